import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { responsesDialect, type StreamEvent } from 'model-gateway/wire'
import { doneEvent, errorEvent } from './chat-chunks.ts'
import { createResponseItems } from './responses-chat-items.ts'
import {
  closingMembers,
  finishReason,
  objectsIn,
  readMessages,
  usageFromResponses,
} from './responses-chat-output.ts'
import type { ReplyContext } from './responses-chat-reply.ts'

type Call = Pick<ProviderCall, 'body' | 'surface' | 'requestId'>
type Context = Omit<ReplyContext, 'billingModifiers'>

/**
 * Converts the events of a streamed response to chat completion chunks, batch by batch, ended by
 * `[DONE]`. A failed response becomes an error event, after its usage, and the stream ends without
 * `[DONE]`. Throws GatewayError `upstream_transport` for malformed events and for a stream that
 * ends early.
 */
export async function* chatChunksFromResponses(
  events: AsyncIterable<readonly StreamEvent[]>,
  call: Call,
  context: Context,
): AsyncGenerator<readonly StreamEvent[]> {
  const converter = createConverter(call, context)
  for await (const batch of events) {
    if (!converter.isOpen) continue
    const chunks = converter.push(batch)
    if (chunks.length > 0) yield chunks
  }
  if (converter.isOpen) yield converter.end()
  const { failure } = converter
  if (failure?.forwarded === false) throw new GatewayError('upstream_transport', failure.message)
}

function createConverter(call: Call, { providerType, names }: Context) {
  // Knows how responses begin, end and fail, and which event members are optional.
  const stream = responsesDialect.streaming.open({ publicModel: '' })
  const items = createResponseItems(call, names)
  let isNamed = false
  let usage: JsonObject | undefined

  /** The upstream's model name and id, from the original event. */
  function readHead(event: StreamEvent): void {
    if (isNamed || !event.data.includes('"response"')) return
    const response = responseIn(jsonOf(event))
    if (response === undefined) return
    isNamed = true
    items.head = { id: response.id, providerModel: response.model }
  }

  function take(payload: JsonValue): void {
    if (!isJsonObject(payload)) return
    usage = usageFromResponses(responseIn(payload)?.usage) ?? usage
    items.take(payload)
  }

  function complete(response: JsonObject): void {
    items.close(objectsIn(response.output))
    const { output } = items
    usage = usageFromResponses(response.usage, output) ?? usage
    const said = readMessages(output)
    const members = closingMembers(output, said, { providerType, streamed: true })
    if (Object.keys(members).length > 0) items.write((chunks) => chunks.delta(members))
    const { service_tier } = response
    const more = typeof service_tier === 'string' ? { service_tier } : {}
    items.write((chunks) => chunks.finish(finishReason(response, output), undefined, more))
  }

  function count(): void {
    const counted = usage
    if (counted !== undefined) items.write((chunks) => chunks.usage(counted))
  }

  /** The chunks so far, with the last ones if the response has ended. */
  function taken(): readonly StreamEvent[] {
    if (stream.outcome === 'complete') {
      complete(responseIn(stream.terminal[0]?.json()) ?? {})
      count()
      return [...items.written(), doneEvent]
    }
    const { failure } = stream
    if (stream.outcome === 'open' || failure?.forwarded !== true) return items.written()
    const { code, type = null, param = null, message } = failure
    count()
    return [...items.written(), errorEvent(call, { error: { code, type, param, message } })]
  }

  return {
    push(batch: readonly StreamEvent[]): readonly StreamEvent[] {
      for (const event of batch) {
        if (stream.outcome !== 'open') break
        readHead(event)
        for (const checked of stream.push([event])) take(checked.json())
      }
      return taken()
    },
    end(): readonly StreamEvent[] {
      stream.end()
      return taken()
    },
    get isOpen() {
      return stream.outcome === 'open'
    },
    get failure() {
      return stream.outcome === 'failed' ? stream.failure : undefined
    },
  }
}

function responseIn(payload: JsonValue | undefined): JsonObject | undefined {
  const response = isJsonObject(payload) ? payload.response : undefined
  return isJsonObject(response) ? response : undefined
}

function jsonOf(event: StreamEvent): JsonValue | undefined {
  try {
    return event.json()
  } catch {
    // The stream checker reports it.
    return undefined
  }
}
