import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { StreamEvent } from 'model-gateway/wire'

/** Bodies that are no objects, or empty ones. */
export const oddBodies: readonly JsonValue[] = [null, true, 7, 'text', [], [{}], {}]

const oddMembers: readonly JsonValue[] = [
  null,
  false,
  -1,
  1e300,
  '',
  'text',
  [],
  [null],
  [[]],
  [7, 'text', {}],
  {},
  { type: 7, text: null, role: [], content: {} },
]

/** The body with one member after the other, down to those of its first items, spoilt or left out. */
export function spoiltBodies(body: JsonObject): JsonObject[] {
  return Object.entries(body).flatMap(([name, value]) => {
    const { [name]: _, ...without } = body
    const spoilt = [...oddMembers, ...innerSpoilt(value)]
    return [without, ...spoilt.map((odd) => ({ ...body, [name]: odd }))]
  })
}

function innerSpoilt(value: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(value)) {
    const [first, ...rest] = value
    if (typeof first !== 'object' || first === null || Array.isArray(first)) return []
    return spoiltBodies(first as JsonObject).map((odd) => [odd, ...rest])
  }
  return typeof value === 'object' && value !== null ? spoiltBodies(value as JsonObject) : []
}

/** Events in batches, cut where chance has it. */
export function batchesOf(
  events: readonly StreamEvent[],
  random: () => number,
): (readonly StreamEvent[])[] {
  const batches: (readonly StreamEvent[])[] = []
  for (let at = 0; at < events.length; ) {
    // An empty batch now and then.
    const size = Math.floor(random() * 4)
    batches.push(events.slice(at, at + size))
    at += size
  }
  return batches
}
