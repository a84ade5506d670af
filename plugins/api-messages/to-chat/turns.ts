import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { invalid, isPresent } from 'model-gateway/wire'
import { type Block, mediaPart, readBlocks, stringIn, textOfBlock, unknownBlock } from './blocks.ts'

/** The conversation of a messages request as that of a chat call. */
export interface Turns {
  readonly messages: JsonObject[]
  readonly failedToolCalls: Set<string>
  /** The tool messages that report an error: ids alone do not tell, some upstreams repeat them. */
  readonly failedResults: Set<JsonObject>
  /** By place, as `NativeMessages` has it. */
  readonly cacheControl: Map<string, JsonValue>
  /** By place, as `NativeMessages` has it. */
  readonly members: Map<string, JsonObject>
}

/** Converts `system` and `messages`. Throws GatewayError `invalid_request`, which names the field. */
export function convertTurns(request: JsonObject): Turns {
  const list = request.messages
  if (!Array.isArray(list) || list.length === 0) {
    throw invalid('messages must be a non-empty array of {role, content} objects')
  }
  const turns: Turns = {
    messages: [],
    failedToolCalls: new Set(),
    failedResults: new Set(),
    cacheControl: new Map(),
    members: new Map(),
  }
  if (isPresent(request.system)) addSystem(turns, readBlocks(request.system, 'system'))
  for (const [i, message] of list.entries()) {
    const place = `messages.${i}`
    if (!isJsonObject(message)) throw invalid(`${place} must be an object`)
    const blocks = () => readBlocks(message.content, `${place}.content`)
    if (message.role === 'user') {
      const content = blocks()
      if (Array.isArray(message.content) && content.length === 0) {
        throw invalid(`${place}.content must hold at least one block`)
      }
      addUser(turns, message.content, content)
    } else if (message.role === 'assistant') addAssistant(turns, blocks())
    else if (message.role === 'system') addSystem(turns, blocks())
    else throw invalid(`${place}.role must be 'user' or 'assistant'`)
  }
  // What is dropped of earlier turns, such as thinking, can be all there is.
  if (turns.messages.length === 0) {
    throw invalid('messages.0.content must hold a text, an image, a document or a tool block')
  }
  return turns
}

/** One message, or several: each block with a cache control is the end of one. */
function addSystem(turns: Turns, blocks: readonly Block[]): void {
  let texts: string[] = []
  const add = () => {
    if (texts.length > 0) turns.messages.push({ role: 'system', content: texts.join('\n\n') })
    texts = []
  }
  for (const block of blocks) {
    if (block.type !== 'text') throw unknownBlock(block)
    const text = textOfBlock(block)
    if (text === '') continue
    texts.push(text)
    if (!isCached(block)) continue
    noteCache(turns, block, `messages.${turns.messages.length}`)
    add()
  }
  add()
}

/** Tool results come first, each as a message of its own; what they show follows with the rest. */
function addUser(turns: Turns, content: JsonValue | undefined, blocks: readonly Block[]): void {
  if (typeof content === 'string') {
    turns.messages.push({ role: 'user', content })
    return
  }
  /** Each becomes a part. */
  const shown: Block[] = []
  for (const block of blocks) {
    if (block.type === 'tool_result') addToolResult(turns, block, shown)
    else shown.push(block)
  }
  const message = `messages.${turns.messages.length}`
  const parts = shown.map((block, index) => {
    const place = `${message}.content.${index}`
    if (isCached(block)) noteCache(turns, block, place)
    noteMembers(turns, block, place)
    return partOf(block)
  })
  if (parts.length > 0) turns.messages.push({ role: 'user', content: parts })
}

/** A chat's tool message holds text alone, so images and documents are `shown` by the user. */
function addToolResult(turns: Turns, block: Block, shown: Block[]): void {
  const { value, place } = block
  const id = stringIn(value, 'tool_use_id', place)
  const at = `messages.${turns.messages.length}`
  let text = ''
  for (const part of readBlocks(value.content ?? '', `${place}.content`)) {
    if (part.type === 'text') {
      text += textOfBlock(part)
      if (isCached(part)) noteCache(turns, part, at)
    } else shown.push(part)
  }
  if (isCached(block)) noteCache(turns, block, at)
  const message = { role: 'tool', tool_call_id: id, content: text }
  turns.messages.push(message)
  if (value.is_error !== true) return
  turns.failedToolCalls.add(id)
  turns.failedResults.add(message)
}

function partOf(block: Block): JsonObject {
  if (block.type === 'text') return { type: 'text', text: textOfBlock(block) }
  if (block.type === 'image' || block.type === 'document') return mediaPart(block)
  throw unknownBlock(block)
}

function addAssistant(turns: Turns, blocks: readonly Block[]): void {
  let text = ''
  const calls: JsonObject[] = []
  for (const block of blocks) {
    if (block.type === 'thinking' || block.type === 'redacted_thinking') continue
    let place = `messages.${turns.messages.length}`
    if (block.type === 'text') {
      text += textOfBlock(block)
    } else if (block.type === 'tool_use') {
      place += `.tool_calls.${calls.length}`
      calls.push(toolCall(block))
    } else {
      throw unknownBlock(block)
    }
    if (isCached(block)) noteCache(turns, block, place)
  }
  // A turn of thinking alone has nothing left to say.
  if (text === '' && calls.length === 0) return
  turns.messages.push({
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  })
}

function toolCall({ value, place }: Block): JsonObject {
  const input = value.input ?? {}
  if (!isJsonObject(input)) throw invalid(`${place}.input must be an object`)
  return {
    id: stringIn(value, 'id', place),
    type: 'function',
    function: { name: stringIn(value, 'name', place), arguments: JSON.stringify(input) },
  }
}

function isCached({ value }: Block): boolean {
  return isPresent(value.cache_control)
}

/** The member of a document or an image that says what the upstream is to do with it. */
function noteMembers(turns: Turns, { type, value }: Block, place: string): void {
  const { citations, transformations } = value
  if (type === 'document' && isJsonObject(citations)) turns.members.set(place, { citations })
  if (type === 'image' && isJsonObject(transformations)) {
    turns.members.set(place, { transformations })
  }
}

function noteCache(turns: Turns, { value }: Block, place: string): void {
  turns.cacheControl.set(place, value.cache_control as JsonValue)
}
