import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { imageTokens, pdfTokens, type Sight } from './media.ts'

/** The parts of a request that a model reads. */
export interface Prompt {
  readonly texts: readonly string[]
  /** Tokens that are not text: images, pages, and overhead of blocks and turns. */
  readonly otherTokens: number
}

// The overhead of Claude's token counter, from recorded counts.
const AROUND_REQUEST = 3
const AROUND_TURN = 4
const AROUND_TOOL_CALL = 40
const AROUND_TOOL_RESULT = 30
/** Overhead of a request with tools. */
const ABOUT_TOOLS = 450
/** Overhead of a hosted tool, such as web search. */
const ABOUT_VENDOR_TOOL = 1_500

/** Members of blocks that are not read as text. */
const UNREAD: ReadonlySet<string> = new Set([
  ...['type', 'id', 'tool_use_id', 'cache_control', 'caller', 'is_error', 'citations'],
  ...['signature', 'data', 'source', 'encrypted_content', 'encrypted_index'],
])

/** Reads a request that `readCount` has checked; its other parts may have any form. */
export function readPrompt(request: JsonObject, sight: Sight): Prompt {
  const texts: string[] = []
  let otherTokens = AROUND_REQUEST

  function addText(text: JsonValue | undefined): void {
    if (typeof text === 'string' && text !== '') texts.push(text)
  }

  function addContent(content: JsonValue | undefined): void {
    if (Array.isArray(content)) content.forEach(addBlock)
    else addText(content)
  }

  function addBlock(block: JsonValue): void {
    const type = isJsonObject(block) ? String(block.type) : ''
    if (!isJsonObject(block)) addText(block)
    else if (type === 'text') addText(block.text)
    else if (type === 'image') otherTokens += imageTokens(block.source, sight)
    else if (type === 'document') addDocument(block)
    else if (type.endsWith('tool_use')) {
      otherTokens += AROUND_TOOL_CALL
      addText(block.name)
      addText(JSON.stringify(block.input ?? {}))
    } else if (type.endsWith('tool_result')) {
      otherTokens += AROUND_TOOL_RESULT
      addContent(block.content)
      if (isJsonObject(block.content)) addMembers(block.content)
    } else if (!type.endsWith('thinking')) addMembers(block)
  }

  function addDocument({ source, title, context }: JsonObject): void {
    addText(title)
    addText(context)
    const { type, data, content } = isJsonObject(source) ? source : {}
    if (type === 'text') addText(data)
    else if (type === 'content') addContent(content)
    else otherTokens += pdfTokens(source)
  }

  /** A block of an unknown type: all its texts. */
  function addMembers(block: JsonObject): void {
    for (const [name, value] of Object.entries(block)) {
      if (UNREAD.has(name)) continue
      if (isJsonObject(value)) addMembers(value)
      else addContent(value)
    }
  }

  addContent(request.system)
  for (const turn of listOf(request.messages)) {
    otherTokens += AROUND_TURN
    if (isJsonObject(turn)) addContent(turn.content)
  }
  const tools = listOf(request.tools)
  if (tools.length > 0) otherTokens += ABOUT_TOOLS
  for (const tool of tools) {
    const { cache_control: _, type = 'custom', ...told } = isJsonObject(tool) ? tool : {}
    if (type !== 'custom') otherTokens += ABOUT_VENDOR_TOOL
    addText(JSON.stringify(told))
  }
  const { format } = isJsonObject(request.output_config) ? request.output_config : {}
  if (isJsonObject(format)) addText(JSON.stringify(format))
  return { texts, otherTokens }
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}
