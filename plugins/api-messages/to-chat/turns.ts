import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { invalid, isPresent, leaveOut, withoutClientOnly } from 'model-gateway/wire'
import { type Block, mediaPart, readBlocks, stringIn, textOfBlock, unknownBlock } from './blocks.ts'
import { markOf, type Target } from './target.ts'
import { unsealed } from './thoughts.ts'

/** Converts `system` and `messages` to chat messages. Throws GatewayError `invalid_request`. */
export function chatMessages(request: JsonObject, target: Target): JsonObject[] {
  const list = request.messages as readonly JsonValue[]
  const messages: JsonObject[] = []
  if (isPresent(request.system)) {
    addSystem(messages, readBlocks(withoutClientOnly(request.system), 'system'), target)
  }
  for (const [i, message] of list.entries()) {
    const place = `messages.${i}`
    if (!isJsonObject(message)) throw invalid(`${place} must be an object`)
    const blocks = () => readBlocks(message.content, `${place}.content`)
    if (message.role === 'user') {
      const content = blocks()
      if (Array.isArray(message.content) && content.length === 0) {
        throw invalid(`${place}.content must have at least one block`)
      }
      addUser(messages, message.content, content, target)
    } else if (message.role === 'assistant') addAssistant(messages, blocks(), target)
    else if (message.role === 'system') addSystem(messages, blocks(), target)
    else throw invalid(`${place}.role must be 'user' or 'assistant'`)
  }
  // A message may be empty after thinking and other blocks are dropped.
  if (messages.length === 0) {
    throw invalid('messages.0.content must have a text, image, document or tool block')
  }
  return messages
}

/** Joins consecutive texts into one message; a cache mark ends it. */
function addSystem(messages: JsonObject[], blocks: readonly Block[], target: Target): void {
  for (const block of blocks) {
    if (block.type !== 'text') throw unknownBlock(block)
    const text = textOfBlock(block)
    if (text === '') continue
    const mark = markOf(block.value, target)
    const last = messages.at(-1)
    if (last?.role === 'system' && last.cache_control === undefined) {
      const content = `${last.content}\n\n${text}`
      messages[messages.length - 1] = { role: 'system', content, ...mark }
    } else messages.push({ role: 'system', content: text, ...mark })
  }
}

/** Tool results come first, each as a separate message; their media follow with the rest. */
function addUser(
  messages: JsonObject[],
  content: JsonValue | undefined,
  blocks: readonly Block[],
  target: Target,
): void {
  if (typeof content === 'string') {
    messages.push({ role: 'user', content })
    return
  }
  /** Each becomes one or more parts. */
  const shown: Block[] = []
  for (const block of blocks) {
    if (block.type === 'tool_result') messages.push(toolMessage(block, shown, target))
    else shown.push(block)
  }
  const parts = shown.flatMap((block) => partsOf(block, target))
  if (parts.length > 0) messages.push({ role: 'user', content: parts })
}

/**
 * A chat's tool message contains only text, unless the route accepts more: then the user message
 * has the rest.
 */
function toolMessage({ value, place }: Block, shown: Block[], target: Target): JsonObject {
  const id = stringIn(value, 'tool_use_id', place)
  const failed = value.is_error === true
  const parts: JsonObject[] = []
  let mark: JsonObject = {}
  for (const block of readBlocks(value.content ?? '', `${place}.content`)) {
    if (block.type === 'image' && target.reads.has('tool_images')) parts.push(mediaPart(block))
    else if (isMedia(block)) shown.push(block)
    else if (block.type === 'tool_reference') parts.push(textPart(`Tool: ${block.value.tool_name}`))
    else parts.push(...textsOf(block).map(textPart))
    mark = { ...mark, ...markOf(block.value, target) }
  }
  if (failed && !target.reads.has('is_error')) parts.unshift(textPart('Error: '))
  const holdsImage = parts.some(({ type }) => type !== 'text')
  return {
    role: 'tool',
    tool_call_id: id,
    content: holdsImage ? parts : parts.map(({ text }) => text).join(''),
    ...(failed && target.reads.has('is_error') && { is_error: true }),
    ...mark,
    ...markOf(value, target),
  }
}

function isMedia({ type }: Block): boolean {
  return type === 'image' || type === 'document'
}

function textPart(text: string): JsonObject {
  return { type: 'text', text }
}

/** A user block as chat message parts. */
function partsOf(block: Block, target: Target): JsonObject[] {
  const { value } = block
  const mark = markOf(value, target)
  if (!isMedia(block)) return textsOf(block).map((text) => ({ ...textPart(text), ...mark }))
  const { citations, transformations, context } = value
  if (isPresent(citations)) leaveOut('messages[].content[].citations', target)
  if (isPresent(transformations)) leaveOut('messages[].content[].transformations', target)
  if (isPresent(context)) leaveOut('messages[].content[].context', target)
  return [{ ...mediaPart(block), ...mark }]
}

/** The texts of a block that is converted to text. Throws for other blocks. */
function textsOf(block: Block): string[] {
  const { type, value, place } = block
  if (type === 'text') return [textOfBlock(block)]
  if (type === 'search_result') {
    const { title, source } = value
    const head = [title, source].filter((each) => typeof each === 'string').join('\n')
    return [head, ...readBlocks(value.content ?? '', `${place}.content`).flatMap(textsOf)]
  }
  throw unknownBlock(block)
}

/**
 * The assistant's text and calls. Calls of hosted tools and unknown blocks of earlier turns are
 * left out, because the text next to them has the content.
 */
function addAssistant(messages: JsonObject[], blocks: readonly Block[], target: Target): void {
  let text = ''
  let thinking = ''
  let mark: JsonObject = {}
  let kept: JsonObject = {}
  const calls: JsonObject[] = []
  for (const block of blocks) {
    const { type, value } = block
    if (target.reads.has('provider_metadata')) kept = { ...kept, ...unsealed(value.data) }
    if (type === 'thinking' && target.reads.has('reasoning_content')) {
      if (typeof value.thinking === 'string') thinking += value.thinking
    } else if (type === 'tool_use') {
      calls.push({ ...toolCall(block), ...markOf(value, target) })
      continue
    } else if (type === 'text') text += textOfBlock(block)
    else if (type === 'compaction' && typeof value.content === 'string') text += value.content
    else if (type !== 'thinking' && type !== 'redacted_thinking') {
      leaveOut(`messages[].content[].${type}`, target)
    }
    mark = { ...mark, ...markOf(value, target) }
  }
  // A turn with only thinking has no content left.
  if (text === '' && calls.length === 0) return
  messages.push({
    role: 'assistant',
    content: text === '' ? null : text,
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(Object.keys(kept).length > 0 && { provider_metadata: kept }),
    ...mark,
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
