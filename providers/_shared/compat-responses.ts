import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Execute } from 'model-gateway/provider'
import { type CompatEndpoint, callCompat } from './compat-http.ts'
import { completeResponse, exactReplyOf } from './exact-compat.ts'
import { mergeExtraBody, type OutboundBody, outboundBody, setStream } from './outbound-body.ts'

/** Options of a route's responses calls. */
export interface ResponsesRules {
  /** Checks the caller's body; throws to refuse it. */
  check?(body: JsonObject): void
  /** Gets the final body; may change it, or throw. */
  finish?(body: OutboundBody): void
}

/** Responses: the caller's body, wire-safe ids, `model`, `stream`, `extra_body`. No profile. */
export function responsesExecutor(
  endpoint: CompatEndpoint,
  upstreamModel: string,
  extraBody: Readonly<JsonObject>,
  rules: ResponsesRules,
): Execute {
  return async (call) => {
    rules.check?.(call.body)
    const body = outboundBody(call)
    body.set('model', upstreamModel)
    makeInputIdsWireSafe(body)
    setStream(body, call.stream)
    mergeExtraBody(body, extraBody)
    rules.finish?.(body)
    const result = await callCompat(endpoint, call, body)
    return exactReplyOf(call, result, completeResponse)
  }
}

const WIRE_SAFE = /^[A-Za-z0-9_-]{1,64}$/

/** Required prefix of an item's `id`, by item type. */
const ID_PREFIXES: ReadonlyMap<unknown, string> = new Map([
  ['function_call', 'fc_'],
  ['message', 'msg_'],
  ['reasoning', 'rs_'],
])
const CALL_ID_PREFIX = 'call_'

/**
 * Replaces ids in `input[]` that the upstream would refuse, such as those of a conversation with
 * another provider. Equal ids stay equal, so that a call still matches its output.
 */
function makeInputIdsWireSafe(body: OutboundBody): void {
  const input = body.get('input')
  if (!Array.isArray(input)) return
  let changed = false
  const items = input.map((item) => {
    const safe = wireSafeItem(item)
    if (safe !== item) changed = true
    return safe
  })
  if (changed) body.set('input', items)
}

function wireSafeItem(item: JsonValue): JsonValue {
  if (!isJsonObject(item)) return item
  const type = item.type ?? (item.role === undefined ? undefined : 'message')
  const prefix = ID_PREFIXES.get(type)
  const { id, call_id: callId } = item
  const badId = prefix !== undefined && typeof id === 'string' && !isWireSafe(id, prefix)
  const badCallId = typeof callId === 'string' && !isWireSafe(callId, '')
  if (!badId && !badCallId) return item
  return {
    ...item,
    ...(badId ? { id: hashed(id, prefix) } : {}),
    ...(badCallId ? { call_id: hashed(callId, CALL_ID_PREFIX) } : {}),
  }
}

function isWireSafe(id: string, prefix: string): boolean {
  return id.startsWith(prefix) && WIRE_SAFE.test(id)
}

function hashed(id: string, prefix: string): string {
  return prefix + createHash('sha256').update(id).digest('base64url')
}
