import type { EgressResponse, Execute, ProviderCall } from 'model-gateway/provider'
import { type CompatEndpoint, postJson, readJsonReply, streamBody } from '../_shared/compat-http.ts'
import { decodeEventStream } from '../_shared/event-stream.ts'
import { exactReply } from '../_shared/exact-reply.ts'
import { ownReplyId } from '../_shared/reply-ids.ts'
import type { ToolNames } from '../_shared/tool-names.ts'
import { chatFromUnified, type ReplyFacts } from './unified-reply.ts'
import { type UnifiedRoute, unifiedRequest } from './unified-request.ts'
import { chatChunksFromUnified } from './unified-stream.ts'

/** Undocumented data in a stream that does not end it. */
export type Anomaly = 'unknown_event' | 'crc_mismatch'

export interface UnifiedEndpoints {
  readonly buffered: CompatEndpoint
  readonly streamed: CompatEndpoint
}

const AWS_EVENT_STREAM = 'application/vnd.amazon.eventstream'

/** Chat completions over Converse. */
export function unifiedChat(
  endpoints: UnifiedEndpoints,
  route: UnifiedRoute,
  count: (anomaly: Anomaly) => void,
): Execute {
  /** The reply has neither id nor model. */
  const replyFacts = (
    call: ProviderCall,
    { headers }: EgressResponse,
    names: ToolNames,
  ): ReplyFacts => {
    const id = headers.get('x-amzn-requestid')
    return { id: id === null ? undefined : ownReplyId(call, id), model: route.upstreamModel, names }
  }
  const crcMismatch = () => count('crc_mismatch')
  const unknownEvent = () => count('unknown_event')
  return async (call) => {
    const { body, billingModifiers, names } = unifiedRequest(route, call)
    const text = JSON.stringify(body)
    if (call.stream) {
      const response = await postJson(endpoints.streamed, call, text, AWS_EVENT_STREAM)
      const frames = decodeEventStream(streamBody(response, AWS_EVENT_STREAM), crcMismatch)
      return {
        kind: 'stream',
        events: chatChunksFromUnified(frames, call, replyFacts(call, response, names), {
          unknownEvent,
          redact: response.redact,
        }),
        billingModifiers,
      }
    }
    const response = await postJson(endpoints.buffered, call, text, 'application/json')
    const reply = await readJsonReply(response)
    return {
      kind: 'buffered',
      body: chatFromUnified(exactReply(reply), call, replyFacts(call, response, names)),
      billingModifiers,
    }
  }
}
