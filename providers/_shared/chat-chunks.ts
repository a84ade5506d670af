import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { callError, failureOf, plainError, type StreamEvent, streamEvent } from 'model-gateway/wire'
import { replyId } from './reply-ids.ts'

/** Builds the chunks of one streamed chat completion with one choice. */
export interface ChatChunks {
  /** The first chunk, with the role and other initial members. */
  role(facts: {
    readonly providerModel: JsonValue | undefined
    readonly usage?: JsonObject | undefined
  }): StreamEvent
  text(content: string): StreamEvent
  /** The same, for text that is already a JSON string. */
  textLiteral(json: string): StreamEvent
  /** `index` counts tool calls from 0. */
  toolStart(index: number, id: string, name: string): StreamEvent
  toolArguments(index: number, fragment: string): StreamEvent
  /** Parts of the type `image_url`. */
  images(parts: readonly JsonObject[]): StreamEvent
  providerMetadata(metadata: JsonObject): StreamEvent
  /** Other members of the delta and of the choice. */
  delta(members: JsonObject, ofChoice?: JsonObject): StreamEvent
  /** `more`: other members of the choice's last chunk. */
  finish(reason: string, usage?: JsonObject, more?: JsonObject): StreamEvent
  /** A chunk with only usage, without choices. */
  usage(usage: JsonObject): StreamEvent
}

/** `id` is the upstream's id, if present. */
export function createChatChunks(
  call: Pick<ProviderCall, 'body' | 'surface'>,
  id: JsonValue | undefined,
): ChatChunks {
  const created = Math.floor(Date.now() / 1000)
  const model = JSON.stringify(call.body.model ?? null)
  const head = `{"id":${JSON.stringify(replyId(call, id))},"object":"chat.completion.chunk","created":${created},"model":${model}`
  const start = `${head},"choices":[{"index":0,"delta":`

  /** Most chunks differ only in their delta, so the rest is kept as JSON text. */
  const chunk = (delta: string, finishReason = 'null', more = '') =>
    streamEvent(`${start}${delta},"finish_reason":${finishReason}}]${more}}`)
  const member = (name: string, value: JsonValue | undefined) =>
    value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`
  const members = (all: JsonObject) =>
    Object.entries(all)
      .map(([name, value]) => member(name, value))
      .join('')

  return {
    role: ({ providerModel, usage }) =>
      chunk(
        '{"role":"assistant","content":""}',
        'null',
        member('provider_model', providerModel) + member('usage', usage),
      ),
    text: (content) => chunk(`{"content":${JSON.stringify(content)}}`),
    textLiteral: (json) => chunk(`{"content":${json}}`),
    toolStart: (index, id, name) =>
      chunk(
        `{"tool_calls":[{"index":${index},"id":${JSON.stringify(id)},"type":"function","function":{"name":${JSON.stringify(name)},"arguments":""}}]}`,
      ),
    toolArguments: (index, fragment) =>
      chunk(
        `{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(fragment)}}}]}`,
      ),
    images: (parts) => chunk(`{"images":${JSON.stringify(parts)}}`),
    providerMetadata: (metadata) => chunk(`{"provider_metadata":${JSON.stringify(metadata)}}`),
    delta: (said, ofChoice = {}) => chunk(JSON.stringify(said) + members(ofChoice)),
    finish: (reason, usage, more = {}) =>
      chunk('{}', JSON.stringify(reason), member('usage', usage) + members(more)),
    usage: (usage) => streamEvent(`${head},"choices":[]${member('usage', usage)}}`),
  }
}

export const doneEvent: StreamEvent = streamEvent('[DONE]')

/** An error that the upstream reported in its stream; nothing may follow it. */
export function errorEvent(
  { requestId }: Pick<ProviderCall, 'requestId'>,
  owner: JsonObject,
): StreamEvent {
  const error = callError({ ...failureOf(owner), forwarded: false })
  return streamEvent(JSON.stringify(plainError(error, requestId).body))
}
