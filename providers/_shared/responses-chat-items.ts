import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import type { StreamEvent } from 'model-gateway/wire'
import { type ChatChunks, createChatChunks } from './chat-chunks.ts'
import { BETWEEN, chatCall, contentOf, thoughtsIn } from './responses-chat-output.ts'
import { isCall } from './responses-chat-pairs.ts'
import type { ToolNames } from './tool-names.ts'

/** An output item so far. */
interface Item {
  /** Texts so far, by kind and index. */
  readonly texts: Map<string, string>
  /** Index among all calls, once the name is known. */
  call?: number
  /** Log probabilities are sent. */
  hasTokens?: true
  isDone?: true
}

type Member = 'content' | 'reasoning' | 'refusal'

/**
 * Converts the output items of a streamed response to chat chunks. Repeated content is sent once.
 */
export function createResponseItems(
  call: Pick<ProviderCall, 'body' | 'surface'>,
  names: Pick<ToolNames, 'asked'>,
) {
  let chunks: ChatChunks | undefined
  let waiting: StreamEvent[] = []
  /** By output index and by id, as far as known. */
  const items = new Map<JsonValue, Item>()
  /** Completed items, in order of arrival. */
  const output: JsonObject[] = []
  let calls = 0
  const said = { content: false, reasoning: false, refusal: false }

  const self = {
    /** The response's members at the start of the stream. */
    head: { id: undefined, providerModel: undefined } as {
      id: JsonValue | undefined
      providerModel: JsonValue | undefined
    },
    output: output as readonly JsonObject[],

    /** Writes a chunk, after the first one. */
    write(make: (chunks: ChatChunks) => StreamEvent): void {
      if (chunks === undefined) {
        chunks = createChatChunks(call, self.head.id)
        waiting.push(chunks.role({ providerModel: self.head.providerModel }))
      }
      waiting.push(make(chunks))
    },

    /** The chunks since the last call. */
    written(): StreamEvent[] {
      const list = waiting
      waiting = []
      return list
    },

    /** Handles an event. Other kinds have no counterpart in a chat. */
    take(payload: JsonObject): void {
      const { type, item, delta } = payload
      const piece = typeof delta === 'string' ? delta : ''
      const { content_index = 0, summary_index = 0, logprobs } = payload
      switch (type) {
        case 'response.output_item.added':
          if (isJsonObject(item)) beginCall(itemOf(payload), item)
          break
        case 'response.output_item.done':
          if (isJsonObject(item)) finish(itemOf(payload), item)
          break
        case 'response.output_text.delta':
          say(itemOf(payload), 'content', `text ${content_index}`, piece)
          tellTokens(itemOf(payload), logprobs)
          break
        case 'response.refusal.delta':
          say(itemOf(payload), 'refusal', `refusal ${content_index}`, piece)
          break
        case 'response.reasoning_summary_text.delta':
          say(itemOf(payload), 'reasoning', `summary ${summary_index}`, piece)
          break
        case 'response.reasoning_text.delta':
          say(itemOf(payload), 'reasoning', `thought ${content_index}`, piece)
          break
        case 'response.function_call_arguments.delta':
          ask(itemOf(payload), 'arguments', piece)
          break
        case 'response.custom_tool_call_input.delta':
          ask(itemOf(payload), 'input', piece)
          break
      }
    },

    /**
     * The whole output, from the last event: only content that earlier events did not have is new.
     */
    close(whole: readonly JsonObject[]): void {
      const hasStreamed = items.size > 0
      for (const [output_index, item] of whole.entries()) {
        const known = items.get(item.id ?? null) ?? items.get(output_index)
        if (known !== undefined) finish(known, item)
        else if (!hasStreamed) finish({ texts: new Map() }, item)
      }
    },
  }

  /** By index, else by id, which some upstreams change with each event. */
  function itemOf({ output_index: place = null, item_id = null, item }: JsonObject): Item {
    const id = isJsonObject(item) ? (item.id ?? null) : item_id
    const known = (place === null ? undefined : items.get(place)) ?? items.get(id)
    const own: Item = known ?? { texts: new Map() }
    if (place !== null) items.set(place, own)
    if (id !== null) items.set(id, own)
    return own
  }

  /**
   * Appends to a text. The parts of one message are one text; texts of several items are separated.
   */
  function say(item: Item, member: Member, key: string, piece: string): void {
    if (piece === '') return
    const before = item.texts.get(key)
    const isFirst = member === 'content' ? !speaks(item) : before === undefined
    item.texts.set(key, (before ?? '') + piece)
    const apart = isFirst && said[member] && member !== 'refusal'
    said[member] = true
    self.write(({ delta }) => delta({ [member]: apart ? BETWEEN + piece : piece }))
  }

  function tellTokens(item: Item, logprobs: JsonValue | undefined): void {
    if (!Array.isArray(logprobs) || logprobs.length === 0) return
    item.hasTokens = true
    self.write(({ delta }) => delta({}, { logprobs: { content: logprobs, refusal: null } }))
  }

  function beginCall(item: Item, stated: JsonObject): void {
    const isNamed = typeof stated.name === 'string' && stated.name !== ''
    if (item.call !== undefined || !isCall(stated) || !isNamed) return
    const index = calls++
    item.call = index
    const begun = chatCall({ ...stated, input: '', arguments: undefined }, names)
    self.write(({ delta }) => delta({ tool_calls: [{ index, ...withoutArguments(begun) }] }))
    // Text that arrived before the name.
    for (const [key, text] of item.texts) tellCall(index, key, text)
  }

  /** Appends arguments of a tool call. */
  function ask(item: Item, key: string, piece: string): void {
    if (piece === '') return
    item.texts.set(key, (item.texts.get(key) ?? '') + piece)
    if (item.call !== undefined) tellCall(item.call, key, piece)
  }

  function tellCall(index: number, key: string, piece: string): void {
    const called =
      key === 'input' ? { custom: { input: piece } } : { function: { arguments: piece } }
    self.write(({ delta }) => delta({ tool_calls: [{ index, ...called }] }))
  }

  /** An item is complete: sends content that earlier events did not have. */
  function finish(item: Item, stated: JsonObject): void {
    if (item.isDone) return
    item.isDone = true
    output.push(stated)
    const parts = contentOf(stated)
    for (const [at, { text, refusal }] of parts.entries()) {
      say(item, 'content', `text ${at}`, rest(item, `text ${at}`, text))
      say(item, 'refusal', `refusal ${at}`, rest(item, `refusal ${at}`, refusal))
    }
    if (!item.hasTokens) for (const { logprobs } of parts) tellTokens(item, logprobs)
    if (item.texts.size === 0) {
      for (const [at, text] of thoughtsIn(stated).entries()) {
        say(item, 'reasoning', `summary ${at}`, text)
      }
    }
    if (!isCall(stated)) return
    beginCall(item, stated)
    if (stated.type === 'custom_tool_call') ask(item, 'input', rest(item, 'input', stated.input))
    else ask(item, 'arguments', rest(item, 'arguments', stated.arguments || '{}'))
  }

  return self
}

function speaks({ texts }: Item): boolean {
  return [...texts.keys()].some((key) => key.startsWith('text '))
}

function withoutArguments(call: JsonObject): JsonObject {
  const { function: called } = call
  return isJsonObject(called) ? { ...call, function: { ...called, arguments: '' } } : call
}

/** The part of a text that is not sent yet; empty if the texts differ. */
function rest({ texts }: Item, key: string, whole: JsonValue | undefined): string {
  const before = texts.get(key) ?? ''
  return typeof whole === 'string' && whole.startsWith(before) ? whole.slice(before.length) : ''
}
