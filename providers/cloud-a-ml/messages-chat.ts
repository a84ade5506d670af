import type { Execute, JsonObject } from 'model-gateway/plugin'
import { EVENT_STREAM, postJson, readEventStream, readJsonReply } from '../_shared/compat-http.ts'
import { exactReply } from '../_shared/exact-json.ts'
import { rawPredictMessages as dialect } from '../_shared/messages-dialect.ts'
import { chatFromMessages } from '../_shared/messages-reply.ts'
import { messagesRequest } from '../_shared/messages-request.ts'
import { chatChunksFromMessages } from '../_shared/messages-stream.ts'
import type { ModelEndpoint } from './endpoint.ts'

/** Chat completions of `anthropic/` models: rawPredict and streamRawPredict. */
export function messagesChat(
  endpoint: ModelEndpoint,
  upstreamModel: string,
  extraBody: Readonly<JsonObject>,
): Execute {
  const route = { dialect, upstreamModel, extraBody }
  const buffered = endpoint.method('rawPredict')
  const streamed = endpoint.method('streamRawPredict')
  return async (call) => {
    const request = messagesRequest(route, call)
    const billingModifiers = [...endpoint.billingModifiers, ...request.billingModifiers]
    const text = JSON.stringify(request.body)
    if (!call.stream) {
      const response = await postJson(buffered, call, text, 'application/json')
      const reply = exactReply(await readJsonReply(response))
      const body = chatFromMessages(reply, call, dialect.providerType)
      return { kind: 'buffered', body, billingModifiers }
    }
    const response = await postJson(streamed, call, text, EVENT_STREAM)
    const events = readEventStream(response)
    return {
      kind: 'stream',
      events: chatChunksFromMessages(events, call, dialect.providerType),
      billingModifiers,
    }
  }
}
