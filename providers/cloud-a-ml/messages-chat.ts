import type { Execute, RouteSpec } from 'model-gateway/provider'
import type { RouteBetas } from '../_shared/betas.ts'
import { EVENT_STREAM, postJson } from '../_shared/compat-http.ts'
import { rawPredictMessages as dialect } from '../_shared/messages-dialect.ts'
import { nativeMessages } from '../_shared/messages-native.ts'
import { messagesRequest } from '../_shared/messages-request.ts'
import { messagesResult } from '../_shared/messages-result.ts'
import type { ModelEndpoint } from './endpoint.ts'

/**
 * `anthropic/` models by rawPredict and streamRawPredict: messages calls, and chat converted to
 * them.
 */
export function messagesExecutors(
  endpoint: ModelEndpoint,
  upstreamModel: string,
  spec: RouteSpec,
  betas: RouteBetas | undefined,
): { chat_completions: Execute; messages: Execute } {
  const route = { ...spec, dialect, upstreamModel, betas }
  const buffered = endpoint.method('rawPredict')
  const streamed = endpoint.method('streamRawPredict')
  const chat: Execute = async (call) => {
    const request = messagesRequest(route, call)
    const billingModifiers = [...endpoint.billingModifiers, ...request.billingModifiers]
    const text = JSON.stringify(request.body)
    const response = call.stream
      ? await postJson(streamed, call, text, EVENT_STREAM)
      : await postJson(buffered, call, text, 'application/json')
    return messagesResult(response, call, dialect, { ...request, billingModifiers })
  }
  const messages = nativeMessages({ buffered, streamed }, route, endpoint.billingModifiers)
  return { chat_completions: chat, messages }
}
