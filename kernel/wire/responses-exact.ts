import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { StreamFailure } from '../plugin/surface.ts'
import { saysNothing } from './is-present.ts'

type Members = Record<string, JsonValue>

/** Events with an unfinished response, whatever status they state. */
const BEGUN: ReadonlySet<string> = new Set([
  'response.created',
  'response.in_progress',
  'response.queued',
])

const ENDS = ['completed', 'incomplete', 'failed', 'cancelled'] as const
export type End = (typeof ENDS)[number]

/** Not an error, but the answer is incomplete. */
export const CANCELLED: StreamFailure = {
  code: 'response_cancelled',
  message: 'the response was cancelled',
  forwarded: true,
}

/**
 * How a response ends with an event: by its status, which some upstreams set differently than the
 * event type (Arthur-Ficial/apfel#412). Undefined if it does not end.
 */
export function endOf(type: string, response: JsonObject): End | undefined {
  if (BEGUN.has(type)) return undefined
  const status = ENDS.find((end) => end === british(response.status))
  if (status !== undefined) return status
  const name = /^response\.(completed|incomplete|failed|cancell?ed|done)$/.exec(type)?.[1]
  if (name === undefined) return undefined
  if (!saysNothing(response.error)) return 'failed'
  if (!saysNothing(response.incomplete_details)) return 'incomplete'
  return ENDS.find((end) => end === british(name)) ?? 'completed'
}

function british(status: JsonValue | undefined): JsonValue | undefined {
  return status === 'canceled' ? 'cancelled' : status
}

/** Members to add to a response for its readers; `known` are the required ones. */
export function responseChanges(response: JsonObject, known: JsonObject): Members {
  const changes: Members = {}
  for (const name of ['model', 'status']) {
    const value = known[name]
    if (value !== undefined && response[name] !== value) changes[name] = value
  }
  if (typeof response.id !== 'string') changes.id = known.id ?? `resp_${crypto.randomUUID()}`
  if (response.object !== 'response') changes.object = 'response'
  if (typeof response.created_at !== 'number') {
    changes.created_at = known.created_at ?? Math.floor(Date.now() / 1000)
  }
  const output = [response.output, known.output].find(Array.isArray) ?? []
  const exact = output.map((item, place) => {
    const members = isJsonObject(item) ? itemChanges(item, place, 'completed') : {}
    return Object.keys(members).length > 0 ? { ...(item as JsonObject), ...members } : item
  })
  if (output !== response.output || exact.some((item, at) => item !== output[at])) {
    changes.output = exact
  }
  return changes
}

/** The same for an output item at this position. */
export function itemChanges(
  item: JsonObject,
  place: JsonValue | undefined,
  status: string,
): Members {
  const changes: Members = {}
  if (typeof item.id !== 'string') changes.id = `item_${place ?? 0}`
  const { type, arguments: written } = item
  if (isJsonObject(written)) changes.arguments = JSON.stringify(written)
  for (const [name, value] of Object.entries(required(type, item.id ?? changes.id, status))) {
    if (item[name] === undefined || item[name] === null) changes[name] = value ?? null
  }
  return changes
}

/** Members that clients need in an item of this type. */
function required(
  type: JsonValue | undefined,
  id: JsonValue | undefined,
  status: string,
): JsonObject {
  if (type === 'message') return { role: 'assistant', status, content: [] }
  if (type === 'function_call') return { call_id: id, arguments: '', status }
  return type === 'reasoning' ? { summary: [] } : {}
}
