import { spend } from './work.ts'

/**
 * The texts that a brace expansion (`{a,b{c,d}}`, `{1..9..2}`) expands to, at most `most`. Other
 * text expands to itself.
 */
export function braceAlternatives(source: string, most: number): readonly string[] {
  // Once to split it, and once for each level of braces in it.
  spend(4 + 2 * source.length)
  const inner = source.slice(1, -1)
  const items = splitItems(inner)
  if (items.length === 1) return sequence(inner, most) ?? [source]
  const alternatives: string[] = []
  for (const item of items) {
    alternatives.push(...expandInside(item, most))
    if (alternatives.length >= most) break
  }
  return alternatives.slice(0, most)
}

/** An item that contains braces. */
function expandInside(item: string, most: number): readonly string[] {
  spend(2 + item.length)
  const open = findUnquoted(item, '{', 0)
  if (open === -1) return [item]
  const close = closingBrace(item, open)
  if (close === -1) return [item]
  const head = item.slice(0, open)
  const middles = braceAlternatives(item.slice(open, close + 1), most)
  const tails = expandInside(item.slice(close + 1), most)
  const all: string[] = []
  spend(Math.min(most, middles.length * tails.length) * (2 + (item.length >> 4)))
  for (const middle of middles)
    for (const tail of tails) {
      if (all.length >= most) return all
      all.push(head + middle + tail)
    }
  return all
}

function splitItems(inner: string): readonly string[] {
  const items: string[] = []
  let depth = 0
  let start = 0
  for (let i = 0; i < inner.length; i++) {
    const c = inner[i]
    if (c === '\\') i++
    else if (c === "'" || c === '"') i = quoteEnd(inner, i)
    else if (c === '{') depth++
    else if (c === '}') depth--
    else if (c === ',' && depth === 0) {
      items.push(inner.slice(start, i))
      start = i + 1
    }
  }
  items.push(inner.slice(start))
  return items
}

function sequence(inner: string, most: number): readonly string[] | undefined {
  const [from, to, step, more] = inner.split('..')
  if (from === undefined || to === undefined || more !== undefined) return undefined
  const letters = /^[a-zA-Z]$/.test(from) && /^[a-zA-Z]$/.test(to)
  if (!letters && !(/^-?\d+$/.test(from) && /^-?\d+$/.test(to))) return undefined
  const first = letters ? from.charCodeAt(0) : Number(from)
  const last = letters ? to.charCodeAt(0) : Number(to)
  const by = Math.abs(Number(step ?? 1)) || 1
  const items: string[] = []
  spend(2 * Math.min(most, Math.abs(last - first) / by))
  for (let n = 0; n * by <= Math.abs(last - first) && items.length < most; n++) {
    const value = first + (last < first ? -n : n) * by
    items.push(letters ? String.fromCharCode(value) : String(value))
  }
  return items
}

function closingBrace(text: string, open: number): number {
  let depth = 0
  for (let i = open; i < text.length; i++) {
    const c = text[i]
    if (c === '\\') i++
    else if (c === "'" || c === '"') i = quoteEnd(text, i)
    else if (c === '{') depth++
    else if (c === '}' && --depth === 0) return i
  }
  return -1
}

function findUnquoted(text: string, wanted: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const c = text[i]
    if (c === '\\') i++
    else if (c === "'" || c === '"') i = quoteEnd(text, i)
    else if (c === wanted) return i
  }
  return -1
}

function quoteEnd(text: string, open: number): number {
  const end = text.indexOf(text[open] ?? '', open + 1)
  return end === -1 ? text.length : end
}
