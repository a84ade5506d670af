import type { Execute } from 'model-gateway/provider'
import { type CompatEndpoint, EVENT_STREAM, postJson } from '../_shared/compat-http.ts'
import { type MessagesRoute, messagesRequest } from '../_shared/messages-request.ts'
import { messagesResult } from '../_shared/messages-result.ts'

/** Chat completions over the native messages API. */
export function nativeChat(endpoint: CompatEndpoint, route: MessagesRoute): Execute {
  return async (call) => {
    const request = messagesRequest(route, call)
    const { body, betas } = request
    const accept = call.stream ? EVENT_STREAM : 'application/json'
    const response = await postJson(withBetas(endpoint, betas), call, JSON.stringify(body), accept)
    return messagesResult(response, call, route.dialect, request)
  }
}

const BETA_HEADER = 'anthropic-beta'

/** The call's betas beside the configured ones. */
function withBetas(endpoint: CompatEndpoint, betas: readonly string[]): CompatEndpoint {
  if (betas.length === 0) return endpoint
  const configured = endpoint.headers[BETA_HEADER]?.split(',').map((beta) => beta.trim()) ?? []
  const all = [...new Set([...configured, ...betas])].filter((beta) => beta !== '')
  return { ...endpoint, headers: { ...endpoint.headers, [BETA_HEADER]: all.join(',') } }
}
