import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { leaveOut, type ParamPolicy } from 'model-gateway/wire'

/** "A maximum of 4 blocks with cache_control may be provided." Cache points count alike. */
const MOST_MARKS = 4

const IN_CONTENT = 'messages[].content[].cache_control'
const IN_TOOLS = 'tools[].cache_control'

/** The marked items in each member, in cache order. */
export const MARKED_AT = {
  tools: IN_TOOLS,
  toolConfig: IN_TOOLS,
  system: IN_CONTENT,
  messages: IN_CONTENT,
} as const

/** Members whose items can be marked. */
const INNER = ['tools', 'content'] as const

/**
 * Removes the first cache marks, or cache points, from a request with more than the service allows.
 * The last ones are kept, because they cover the longest prefixes of the prompt.
 */
export function limitMarks(body: JsonObject, policy: ParamPolicy): JsonObject {
  const places = Object.entries(MARKED_AT).filter(([name]) => body[name] !== undefined)
  let surplus = places.reduce((sum, [name]) => sum + marksIn(body[name]), 0) - MOST_MARKS
  if (surplus <= 0) return body
  const paths = new Set<string>()

  function limited(value: JsonValue, path: string): JsonValue[] {
    if (Array.isArray(value)) return [value.flatMap((entry) => limited(entry, path))]
    if (!isJsonObject(value)) return [value]
    const copy: JsonObject = { ...value }
    for (const name of INNER) {
      const inner = value[name]
      if (inner !== undefined) copy[name] = limited(inner, path)[0]
    }
    if (!isMarked(copy) || surplus-- <= 0) return [copy]
    paths.add(path)
    const { cache_control: _, cachePoint, ...rest } = copy
    return cachePoint === undefined ? [rest] : []
  }
  const changed = places.map(([name, path]) => [name, limited(body[name] as JsonValue, path)[0]])
  for (const path of paths) leaveOut(path, policy)
  return { ...body, ...Object.fromEntries(changed) }
}

function isMarked({ cache_control: mark, cachePoint }: JsonObject): boolean {
  return isJsonObject(mark) || cachePoint !== undefined
}

function marksIn(value: JsonValue | undefined): number {
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + marksIn(each), 0)
  if (!isJsonObject(value)) return 0
  return INNER.reduce((sum, name) => sum + marksIn(value[name]), isMarked(value) ? 1 : 0)
}
