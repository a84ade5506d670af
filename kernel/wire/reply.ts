import { GatewayError, safeUpstreamMessage } from '../plugin/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { Family } from '../plugin/route.ts'
import type { Usage } from '../plugin/usage.ts'
import type { StreamFailure } from './family-stream.ts'
import { isPresent } from './is-present.ts'
import { setModel } from './json-splice.ts'
import { readChatUsage, readEmbeddingsUsage, readResponsesUsage } from './usage.ts'

export interface ReplyFacts {
  readonly usage: Usage | undefined
  /** Undefined for embeddings, which have no tool calls. */
  readonly invokedToolCount: number | undefined
  /** Set when the reply has its shape and says that the call failed. */
  readonly failure?: StreamFailure
}

/**
 * What a buffered reply says about the call. Throws GatewayError `upstream_transport` when it does
 * not have the family's shape; usage that stands in it all the same is in the error.
 */
export function readReply(family: Family, body: JsonValue): ReplyFacts {
  if (!isJsonObject(body)) throw malformed('it is not a JSON object', undefined)
  switch (family) {
    case 'chat_completions': {
      const usage = readChatUsage(body.usage)
      if (!Array.isArray(body.choices)) throw malformed(faultOf(body, 'choices'), usage)
      return { usage, invokedToolCount: countChatCalls(body.choices) }
    }
    case 'responses': {
      const usage = readResponsesUsage(body.usage)
      if (isPresent(body.choices)) throw malformed('it is a chat completion', usage)
      const { output } = body
      if (Array.isArray(output)) {
        const invokedToolCount = output.filter(isToolCallItem).length
        if (body.status !== 'failed') return { usage, invokedToolCount }
        return { usage, invokedToolCount, failure: failureOf(body) }
      }
      const isBegun = isPresent(body.id) || isPresent(body.status)
      if (isPresent(body.error) || !isBegun) throw malformed(faultOf(body, 'output'), usage)
      return { usage, invokedToolCount: 0 }
    }
    case 'embeddings': {
      const usage = readEmbeddingsUsage(body.usage)
      if (!Array.isArray(body.data)) throw malformed(faultOf(body, 'data'), usage)
      return { usage, invokedToolCount: undefined }
    }
  }
}

/** The reply as text, `model` replaced; all other bytes as the upstream sent them, where it did. */
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

function failureOf({ error }: JsonObject): StreamFailure {
  const { code, message } = isJsonObject(error) ? error : {}
  return {
    code: typeof code === 'string' && /^.{1,64}$/s.test(code) ? code : 'upstream_transport',
    message: safeUpstreamMessage(typeof message === 'string' ? message : 'the response failed'),
    forwarded: true,
  }
}

function faultOf(body: JsonObject, member: string): string {
  const { error } = body
  const message = isJsonObject(error) ? error.message : error
  return typeof message === 'string'
    ? `it is an error: ${safeUpstreamMessage(message)}`
    : `${member} is not an array`
}

function malformed(what: string, usage: Usage | undefined): GatewayError {
  return new GatewayError(
    'upstream_transport',
    `malformed reply of the upstream: ${what}`,
    usage === undefined ? {} : { usage },
  )
}
