import type { Execute } from 'model-gateway/plugin'
import {
  type CompatEndpoint,
  EVENT_STREAM,
  postJson,
  readEventStream,
  readJsonReply,
} from '../_shared/compat-http.ts'
import { exactReply } from '../_shared/exact-json.ts'
import { chatFromMessages } from '../_shared/messages-reply.ts'
import { type MessagesRoute, messagesRequest } from '../_shared/messages-request.ts'
import { chatChunksFromMessages } from '../_shared/messages-stream.ts'

/** Chat completions over the native messages API. */
export function nativeChat(endpoint: CompatEndpoint, route: MessagesRoute): Execute {
  const { providerType } = route.dialect
  return async (call) => {
    const { body, betas, billingModifiers } = messagesRequest(route, call)
    const accept = call.stream ? EVENT_STREAM : 'application/json'
    const response = await postJson(withBetas(endpoint, betas), call, JSON.stringify(body), accept)
    if (call.stream) {
      const events = readEventStream(response)
      return {
        kind: 'stream',
        events: chatChunksFromMessages(events, call, providerType),
        billingModifiers,
      }
    }
    const reply = await readJsonReply(response)
    return {
      kind: 'buffered',
      body: chatFromMessages(exactReply(reply), call, providerType),
      billingModifiers,
    }
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
