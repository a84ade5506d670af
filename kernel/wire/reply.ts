import { GatewayError, safeUpstreamMessage } from '../plugin/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { ReplyFacts } from '../plugin/surface.ts'
import type { Usage } from '../plugin/usage.ts'
import { failureOf, strayWords } from './in-band-error.ts'
import { isPresent, saysNothing } from './is-present.ts'
import { setModel } from './json-splice.ts'
import { CANCELLED, endOf } from './responses-exact.ts'
import { readChatUsage, readEmbeddingsUsage, readResponsesUsage } from './usage.ts'
import { searchOf, toolsUsed } from './usage-extras.ts'

/** Reads the facts of a chat completion. Throws as `Dialect.readReply` does. */
export function readChatReply(value: JsonValue): ReplyFacts {
  const body = objectOf(value)
  const usage = readChatUsage(body.usage, body.service_tier, searchOf(body))
  if (!Array.isArray(body.choices)) throw malformed(faultOf(body, 'choices'), usage)
  return { usage, invokedToolCount: countChatCalls(body.choices) }
}

/** Reads the facts of a response. Throws as `Dialect.readReply` does. */
export function readResponsesReply(value: JsonValue): ReplyFacts {
  const body = objectOf(value)
  const { output } = body
  const tools = toolsUsed(Array.isArray(output) ? output : [])
  const usage = readResponsesUsage(body.usage, body.service_tier, tools)
  if (!saysNothing(body.choices)) throw malformed('it is a chat completion', usage)
  if (Array.isArray(output)) {
    const invokedToolCount = output.filter(isToolCallItem).length
    const end = endOf('response', body)
    if (end === 'failed') {
      const failure = { ...failureOf(body, 'the response failed'), forwarded: true }
      return { usage, invokedToolCount, failure }
    }
    return { usage, invokedToolCount, ...(end === 'cancelled' && { failure: CANCELLED }) }
  }
  const isBegun = isPresent(body.id) || isPresent(body.status)
  if (isPresent(body.error) || !isBegun) throw malformed(faultOf(body, 'output'), usage)
  return { usage, invokedToolCount: 0 }
}

/** Reads the facts of an embeddings reply. Throws as `Dialect.readReply` does. */
export function readEmbeddingsReply(value: JsonValue): ReplyFacts {
  const body = objectOf(value)
  const usage = readEmbeddingsUsage(body.usage)
  if (!Array.isArray(body.data)) throw malformed(faultOf(body, 'data'), usage)
  return { usage, invokedToolCount: undefined }
}

function objectOf(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw malformed('it is not a JSON object', undefined)
  return value
}

/** The reply as text with `model` replaced; all other bytes as the upstream sent them, if known. */
export function replyText(
  body: JsonObject,
  rawBody: string | undefined,
  publicModel: string,
): string {
  if (rawBody === undefined) return JSON.stringify({ ...body, model: publicModel })
  return body.model === publicModel ? rawBody : setModel(rawBody, body.model, publicModel)
}

/** An output item of a response that calls a tool: `function_call`, `web_search_call` and so on. */
export function isToolCallItem(item: JsonValue | undefined): item is JsonObject {
  return isJsonObject(item) && typeof item.type === 'string' && item.type.endsWith('_call')
}

function countChatCalls(choices: readonly JsonValue[]): number {
  let count = 0
  for (const choice of choices) {
    const message = isJsonObject(choice) ? choice.message : undefined
    const calls = isJsonObject(message) ? message.tool_calls : undefined
    if (Array.isArray(calls)) count += calls.length
  }
  return count
}

function faultOf(body: JsonObject, member: string): string {
  const { error } = body
  const message = isJsonObject(error) ? error.message : error
  return typeof message === 'string'
    ? `it is an error: ${safeUpstreamMessage(message)}`
    : `${member} is not an array${strayWords(body)}`
}

function malformed(what: string, usage: Usage | undefined): GatewayError {
  return new GatewayError(
    'upstream_transport',
    `malformed reply of the upstream: ${what}`,
    usage === undefined ? {} : { usage },
  )
}
