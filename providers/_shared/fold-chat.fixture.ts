/** The content of a chat completion, whether buffered or streamed. */
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { StreamEvent } from 'model-gateway/wire'

export interface ChatGist {
  readonly id: JsonValue | undefined
  readonly providerModel: JsonValue | undefined
  /** Null or absent content is `''`. */
  readonly content: string
  readonly toolCalls: JsonObject[]
  /** Texts of the reasoning, joined, and its other members. */
  readonly reasoning: string
  readonly finishReason: JsonValue | undefined
  readonly usage: JsonValue | undefined
}

export function gistOf(body: JsonObject): ChatGist {
  const choice = objectAt(body.choices, 0)
  const message = choice.message as JsonObject
  return {
    id: body.id,
    providerModel: body.provider_model,
    content: typeof message.content === 'string' ? message.content : '',
    toolCalls: (message.tool_calls as JsonObject[] | undefined) ?? [],
    reasoning: reasoningOf(message),
    finishReason: choice.finish_reason,
    usage: body.usage,
  }
}

/** Throws unless the stream is complete: role first, `[DONE]` once and last. */
export function foldChat(events: readonly StreamEvent[]): ChatGist {
  if (events.at(-1)?.data !== '[DONE]') throw new Error('no [DONE] at the end')
  const gist = { id: undefined, providerModel: undefined, content: '', reasoning: '' } as {
    -readonly [K in keyof ChatGist]: ChatGist[K]
  }
  gist.toolCalls = []
  for (const [at, event] of events.slice(0, -1).entries()) {
    const chunk = event.json() as JsonObject
    gist.id ??= chunk.id
    if (gist.id !== chunk.id) throw new Error('the id changes')
    gist.providerModel ??= chunk.provider_model
    gist.usage = chunk.usage ?? gist.usage
    if (!Array.isArray(chunk.choices) || chunk.choices.length === 0) continue
    const choice = objectAt(chunk.choices, 0)
    const delta = choice.delta as JsonObject
    if ((delta.role === 'assistant') !== (at === 0)) throw new Error('the role is not first')
    if (typeof delta.content === 'string') gist.content += delta.content
    gist.reasoning += reasoningOf(delta)
    for (const call of (delta.tool_calls as JsonObject[] | undefined) ?? []) add(gist, call)
    if (choice.finish_reason !== null) gist.finishReason = choice.finish_reason
  }
  return gist
}

function add({ toolCalls }: ChatGist, { index, ...fragment }: JsonObject): void {
  const known = toolCalls[Number(index)]
  if (known === undefined) {
    if (index !== toolCalls.length) throw new Error('the indexes are not dense')
    toolCalls.push(structuredClone(fragment))
    return
  }
  const to = known.function as JsonObject
  to.arguments = `${to.arguments}${(fragment.function as JsonObject).arguments}`
}

function reasoningOf(message: JsonObject): string {
  const { provider_metadata: metadata, reasoning_content: compatible } = message
  if (typeof compatible === 'string') return compatible
  if (!isJsonObject(metadata)) return ''
  const [owner] = Object.values(metadata)
  const { blocks = [] } = ((owner as JsonObject).reasoning ?? {}) as { blocks?: JsonObject[] }
  return blocks
    .map(({ text, thinking, signature, data }) => [text, thinking, signature, data].join(''))
    .join('')
}

function objectAt(list: JsonValue | undefined, at: number): JsonObject {
  const value = Array.isArray(list) ? list[at] : undefined
  if (!isJsonObject(value)) throw new Error('no object there')
  return value
}
