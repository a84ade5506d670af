import { skipSpace, visitJson } from 'model-gateway/wire'

/**
 * The text of a JSON-RPC message, or of a batch, whose `result.tools` has only the tools that
 * `offered` accepts. All other bytes stay; a text without such tools, or that is not JSON, is
 * returned as it is.
 */
export function withoutTools(text: string, offered: (name: string) => boolean): string {
  if (!text.includes('"tools"') && !text.includes('\\u')) return text
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  const lists: (readonly [from: number, to: number])[] = []
  const start = skipSpace(text, 0)
  if (text[start] === '[') visitJson(text, start, (_, from) => findLists(text, from, lists))
  else findLists(text, start, lists)
  // From last to first, so that the earlier positions stay valid.
  return lists.reduceRight((whole, [from, to]) => {
    const kept = keptElements(text, from, offered)
    if (kept === undefined) return whole
    return `${whole.slice(0, from)}[${kept.join(',')}]${whole.slice(to)}`
  }, text)
}

function findLists(text: string, at: number, lists: (readonly [number, number])[]): void {
  if (text[at] !== '{') return
  visitJson(text, at, (key, from) => {
    if (key !== 'result' || text[from] !== '{') return
    visitJson(text, from, (member, listFrom, listTo) => {
      if (member === 'tools' && text[listFrom] === '[') lists.push([listFrom, listTo])
    })
  })
}

/** The texts of the elements to keep; undefined if all are kept. */
function keptElements(
  text: string,
  at: number,
  offered: (name: string) => boolean,
): readonly string[] | undefined {
  const kept: string[] = []
  let hides = false
  visitJson(text, at, (_, from, to) => {
    if (isOffered(text, from, offered)) kept.push(text.slice(from, to))
    else hides = true
  })
  return hides ? kept : undefined
}

function isOffered(text: string, at: number, offered: (name: string) => boolean): boolean {
  let result = true
  if (text[at] !== '{') return result
  visitJson(text, at, (key, from, to) => {
    if (key !== 'name' || text[from] !== '"') return
    result &&= offered(JSON.parse(text.slice(from, to)) as string)
  })
  return result
}
