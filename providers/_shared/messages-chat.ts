import type { Execute } from 'model-gateway/provider'
import { withBetas } from './betas.ts'
import { type CompatEndpoint, EVENT_STREAM, postJson } from './compat-http.ts'
import { type MessagesRoute, messagesRequest } from './messages-request.ts'
import { messagesResult } from './messages-result.ts'

/** Chat completions over the native messages API. */
export function nativeChat(endpoint: CompatEndpoint, route: MessagesRoute): Execute {
  return async (call) => {
    const request = messagesRequest(route, call)
    const { body, betas } = request
    const accept = call.stream ? EVENT_STREAM : 'application/json'
    const to = withBetas(endpoint, betas)
    const response = await postJson(to, call, JSON.stringify(body), accept)
    return messagesResult(response, call, route.dialect, request)
  }
}
