import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import { type ProviderCall, safeUpstreamMessage } from 'model-gateway/provider'
import { responsesDialect } from 'model-gateway/wire'
import { malformedReply } from './malformed-reply.ts'
import { replyId } from './reply-ids.ts'
import {
  BETWEEN,
  chatCall,
  closingMembers,
  finishReason,
  objectsIn,
  readMessages,
  thoughtsIn,
  usageFromResponses,
} from './responses-chat-output.ts'
import { isCall } from './responses-chat-pairs.ts'
import type { ToolNames } from './tool-names.ts'

/** Route and request data that is needed to read a reply. */
export interface ReplyContext {
  /** The key for reasoning in `provider_metadata`. */
  readonly providerType: string
  readonly names: Pick<ToolNames, 'asked'>
  readonly billingModifiers: readonly string[]
}

/**
 * Converts a completed response to a chat completion. Throws GatewayError, with usage, for a failed
 * one, with the provider's code, and for an invalid one.
 */
export function chatFromResponse(
  response: JsonObject,
  call: Pick<ProviderCall, 'body' | 'surface'>,
  context: ReplyContext,
): JsonObject {
  const { billingModifiers } = context
  const { usage: counted, failure } = responsesDialect.readReply(response)
  if (failure !== undefined) {
    const { code, type, param } = failure
    throw new GatewayError('upstream_http_error', safeUpstreamMessage(failure.message), {
      status: statusOf(code),
      upstream: { code, type, param },
      ...(counted && { usage: counted, billingModifiers }),
    })
  }
  const { status, service_tier } = response
  if (status !== 'completed' && status !== 'incomplete') {
    throw malformedReply(`its status is ${JSON.stringify(status)}`, counted, billingModifiers)
  }
  const output = objectsIn(response.output)
  const said = readMessages(output)
  const { text, refusal, logprobs } = said
  const calls = output.filter(isCall).map((item) => chatCall(item, context.names))
  const reasoning = output.flatMap(thoughtsIn).join(BETWEEN)
  const usage = usageFromResponses(response.usage, output)
  const saysElse = calls.length > 0 || refusal !== ''
  return {
    id: replyId(call, response.id),
    object: 'chat.completion',
    created: response.created_at ?? null,
    model: call.body.model ?? null,
    ...(typeof response.model === 'string' && { provider_model: response.model }),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && saysElse ? null : text,
          refusal: refusal === '' ? null : refusal,
          ...(reasoning !== '' && { reasoning }),
          ...(calls.length > 0 && { tool_calls: calls }),
          ...closingMembers(output, said, { ...context, streamed: false }),
        },
        logprobs: logprobs.length === 0 ? null : { content: [...logprobs], refusal: null },
        finish_reason: finishReason(response, output),
      },
    ],
    ...(usage !== undefined && { usage }),
    ...(typeof service_tier === 'string' && { service_tier }),
  }
}

/** The service reports this failure with status 200. */
function statusOf(code: string): number {
  if (code === 'rate_limit_exceeded') return 429
  return /^(?:invalid|image|empty|unsupported|failed_to_download)_|_policy/.test(code) ? 400 : 502
}
