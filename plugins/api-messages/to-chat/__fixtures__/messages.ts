import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { encodeSse, type StreamEvent } from 'model-gateway/wire'

/** What a model says in one reply, of which both forms can be made. */
export interface Said {
  readonly thinking: readonly JsonObject[]
  readonly text: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[]
  readonly finish: string
  readonly usage: JsonObject
}

const words = fc.string({ unit: 'grapheme', maxLength: 30 })
const thinkingBlock = fc.oneof(
  fc.record({
    type: fc.constant('thinking'),
    thinking: words,
    signature: fc.string({ minLength: 1 }),
  }),
  fc.record({ type: fc.constant('redacted_thinking'), data: fc.base64String() }),
)
const input = fc
  .dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 })
  .map((value) => JSON.stringify(value))
const call = fc.record({ id: fc.uuid(), name: fc.string({ minLength: 1 }), input })
export const calls = fc.uniqueArray(call, { maxLength: 3, selector: ({ id }) => id })

export const said: fc.Arbitrary<Said> = fc
  .record({
    thinking: fc.array(thinkingBlock, { maxLength: 3 }),
    text: words,
    calls,
    cutShort: fc.boolean(),
    usage: fc.record({
      prompt_tokens: fc.integer({ min: 100, max: 1000 }),
      completion_tokens: fc.nat(1000),
      prompt_tokens_details: fc.record({ cached_tokens: fc.nat(100) }),
    }),
  })
  .map(({ cutShort, ...rest }) => ({
    ...rest,
    finish: cutShort ? 'length' : rest.calls.length > 0 ? 'tool_calls' : 'stop',
  }))

/** The reply as a buffered chat completion. */
export function bufferedChat({ thinking, text, calls, finish, usage }: Said): JsonObject {
  const message: JsonObject = {
    content: text,
    provider_metadata: {
      cloud_y: { reasoning: { source: 'anthropic_messages', blocks: [...thinking] } },
    },
    tool_calls: calls.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: input },
    })),
  }
  return { id: 'msg_1', choices: [{ index: 0, message, finish_reason: finish }], usage }
}

/** The same as chat chunks whose texts come in pieces of `size` characters. */
export function chatChunks({ thinking, text, calls, finish, usage }: Said, size: number) {
  const chunks: JsonObject[] = [chunkOf({ role: 'assistant', content: '' })]
  const think = (block: JsonObject) => {
    const reasoning = { source: 'anthropic_messages_stream', blocks: [block] }
    chunks.push(chunkOf({ provider_metadata: { cloud_y: { reasoning } } }))
  }
  for (const block of thinking) {
    if (block.type === 'redacted_thinking') {
      think(block)
      continue
    }
    for (const piece of pieces(block.thinking, size)) {
      think({ type: 'thinking_delta', thinking: piece })
    }
    think({ type: 'signature_delta', signature: block.signature })
  }
  for (const piece of pieces(text, size)) chunks.push(chunkOf({ content: piece }))
  for (const [k, each] of calls.entries()) chunks.push(...callChunks(k, each, size))
  chunks.push(chunkOf({}, finish), { id: 'msg_1', choices: [], usage })
  return chunks
}

export function callChunks(index: number, { id, name, input }: Said['calls'][number], size = 3) {
  const begun = { index, id, type: 'function', function: { name, arguments: '' } }
  return [
    chunkOf({ tool_calls: [begun] }),
    ...pieces(input, size).map((piece) =>
      chunkOf({ tool_calls: [{ index, function: { arguments: piece } }] }),
    ),
  ]
}

export function chunkOf(delta: JsonObject, finish: string | null = null): JsonObject {
  return { id: 'msg_1', choices: [{ index: 0, delta, finish_reason: finish }] }
}

export function chatSse(chunks: readonly JsonObject[]): string {
  const text = chunks.map((chunk) => encodeSse(JSON.stringify({ model: 'theirs', ...chunk })))
  return `${text.join('')}data: [DONE]\n\n`
}

export function pieces(text: JsonValue | undefined, size: number): string[] {
  return String(text).match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? []
}

/** Text cut into byte chunks anywhere, within characters too. */
export async function* cutAnywhere(text: string, cuts: readonly number[]) {
  const bytes = new TextEncoder().encode(text)
  const inside = cuts.filter((cut) => cut < bytes.length)
  let at = 0
  for (const cut of [...inside, bytes.length].sort((a, b) => a - b)) {
    yield bytes.subarray(at, cut)
    at = cut
  }
}

/** What breaks the grammar of a messages stream; undefined when nothing does. */
export function grammarFault(
  events: readonly StreamEvent[],
  outcome: 'complete' | 'failed',
): string | undefined {
  let next = 0
  let open: JsonObject | undefined
  let state: 'new' | 'started' | 'closing' | 'stopped' = 'new'
  for (const [i, event] of events.entries()) {
    const data = event.json() as Record<string, JsonObject & JsonValue>
    const at = `${i} ${event.event}`
    if (event.event !== (data.type as unknown)) return `${at}: its name is not its type`
    switch (event.event) {
      case 'message_start':
        if (state !== 'new') return `${at}: a second one`
        state = 'started'
        break
      case 'content_block_start':
        if (state !== 'started' || open !== undefined) return `${at}: out of place`
        if ((data.index as unknown) !== next) return `${at}: the index is not ${next}`
        open = data.content_block
        break
      case 'content_block_delta':
        if (open === undefined || (data.index as unknown) !== next) return `${at}: out of place`
        if (!fits(open, data.delta as JsonObject)) return `${at}: not a delta of ${open.type}`
        break
      case 'content_block_stop':
        if (open === undefined || (data.index as unknown) !== next) return `${at}: out of place`
        open = undefined
        next++
        break
      case 'message_delta':
        if (state !== 'started' || open !== undefined) return `${at}: out of place`
        state = 'closing'
        break
      case 'message_stop':
        if (state !== 'closing') return `${at}: out of place`
        state = 'stopped'
        break
      case 'ping':
        break
      default:
        return `${at}: unknown`
    }
  }
  if (outcome === 'complete' && state !== 'stopped') return 'no message_stop'
  if (outcome === 'failed' && (state === 'closing' || state === 'stopped')) return 'an end'
  return undefined
}

function fits({ type }: JsonObject, delta: JsonObject): boolean {
  switch (delta.type) {
    case 'text_delta':
      return type === 'text' && typeof delta.text === 'string'
    case 'input_json_delta':
      return type === 'tool_use' && typeof delta.partial_json === 'string'
    case 'thinking_delta':
      return type === 'thinking' && typeof delta.thinking === 'string'
    default:
      return delta.type === 'signature_delta' && type === 'thinking'
  }
}

/** The message that a caller puts together from the events of a complete stream. */
export function foldMessages(events: readonly StreamEvent[]): JsonObject {
  let message: JsonObject = {}
  const content: JsonObject[] = []
  const inputs: string[] = []
  for (const event of events) {
    const data = event.json() as Record<string, JsonObject>
    if (event.event === 'message_start') message = { ...data.message }
    if (event.event === 'content_block_start') content.push({ ...data.content_block })
    if (event.event === 'message_delta') message = { ...message, ...data.delta, usage: data.usage }
    if (event.event !== 'content_block_delta') continue
    const index = data.index as unknown as number
    const block = content[index] as JsonObject
    const { text, partial_json, thinking, signature } = data.delta as JsonObject
    if (text !== undefined) block.text = `${block.text}${text}`
    if (thinking !== undefined) block.thinking = `${block.thinking}${thinking}`
    if (signature !== undefined) block.signature = signature
    if (partial_json !== undefined) inputs[index] = (inputs[index] ?? '') + partial_json
  }
  for (const [i, text] of inputs.entries()) {
    if (text !== undefined) (content[i] as JsonObject).input = JSON.parse(text) as JsonValue
  }
  return { ...message, content }
}

/** As a caller in JavaScript has it, where long integers are rounded. */
export function received(reply: object): JsonObject {
  return JSON.parse(JSON.stringify(reply)) as JsonObject
}
