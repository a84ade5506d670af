import type { Execute, RouteSpec } from 'model-gateway/provider'
import { EVENT_STREAM, postJson } from '../_shared/compat-http.ts'
import { rawPredictMessages as dialect } from '../_shared/messages-dialect.ts'
import { messagesRequest } from '../_shared/messages-request.ts'
import { messagesResult } from '../_shared/messages-result.ts'
import type { ModelEndpoint } from './endpoint.ts'

/** Chat completions of `anthropic/` models: rawPredict and streamRawPredict. */
export function messagesChat(
  endpoint: ModelEndpoint,
  upstreamModel: string,
  spec: RouteSpec,
): Execute {
  const route = { ...spec, dialect, upstreamModel }
  const buffered = endpoint.method('rawPredict')
  const streamed = endpoint.method('streamRawPredict')
  return async (call) => {
    const request = messagesRequest(route, call)
    const billingModifiers = [...endpoint.billingModifiers, ...request.billingModifiers]
    const text = JSON.stringify(request.body)
    const response = call.stream
      ? await postJson(streamed, call, text, EVENT_STREAM)
      : await postJson(buffered, call, text, 'application/json')
    return messagesResult(response, call, dialect, { ...request, billingModifiers })
  }
}
