import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { leaveOut, type ParamPolicy } from 'model-gateway/wire'

/** "A maximum of 4 blocks with cache_control may be provided." */
const MOST_MARKS = 4

/** Where the caller marked what stands in each member, in the order in which it is cached. */
const MARKS = {
  tools: 'tools[].cache_control',
  system: 'messages[].content[].cache_control',
  messages: 'messages[].content[].cache_control',
}

/**
 * Takes the first cache marks off a request that has more than the service allows. The last ones end
 * the longest beginnings of the prompt, which all earlier ones are part of.
 */
export function limitMarks(body: JsonObject, policy: ParamPolicy): JsonObject {
  let surplus = marksIn([body.tools, body.system, body.messages]) - MOST_MARKS
  if (surplus <= 0) return body
  const paths = new Set<string>()

  function limited(value: JsonValue, path: string): JsonValue {
    if (Array.isArray(value)) return value.map((entry) => limited(entry, path))
    if (!isJsonObject(value)) return value
    const inner =
      value.content === undefined ? value : { ...value, content: limited(value.content, path) }
    if (!isJsonObject(inner.cache_control) || surplus-- <= 0) return inner
    paths.add(path)
    const { cache_control: _, ...rest } = inner
    return rest
  }
  const places = Object.entries(MARKS).filter(([name]) => body[name] !== undefined)
  const changed = places.map(([name, path]) => [name, limited(body[name] as JsonValue, path)])
  for (const path of paths) leaveOut(path, policy)
  return { ...body, ...Object.fromEntries(changed) }
}

function marksIn(value: JsonValue | undefined | readonly (JsonValue | undefined)[]): number {
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + marksIn(each), 0)
  if (!isJsonObject(value)) return 0
  return marksIn(value.content) + (isJsonObject(value.cache_control) ? 1 : 0)
}
