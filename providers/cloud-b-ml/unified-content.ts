import type { JsonObject } from 'model-gateway/plugin'
import {
  type ContentBlock,
  isBlank,
  type MediaBlock,
  type TextBlock,
  type ToolResultBlock,
} from '../_shared/chat-content.ts'
import type { Turn } from '../_shared/chat-conversation.ts'
import { invalidRequest } from '../_shared/invalid-request.ts'

const DOCUMENT_FORMATS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
])
const LONGEST_NAME = 200

/** The text for a document without any other text. */
const FILE_ALONE = 'The file is attached.'

/** The item after an entry or block: a cache point, if marked. */
type After = (block: ContentBlock) => readonly JsonObject[]

/** The `system` entries of each message: several if a text in it ends a cached prefix. */
export function unifiedSystem(
  messages: readonly (readonly TextBlock[])[],
  after: After,
): JsonObject[] {
  return messages.flatMap((blocks) => {
    const entries: JsonObject[] = []
    let texts: string[] = []
    for (const [index, block] of blocks.entries()) {
      texts.push(block.text)
      const point = after(block)
      if (point.length === 0 && index < blocks.length - 1) continue
      entries.push({ text: texts.join('\n\n') }, ...point)
      texts = []
    }
    return entries
  })
}

/** `messages` of Converse. Throws GatewayError. */
export function unifiedMessages(turns: readonly Turn[], after: After): JsonObject[] {
  const nameOf = documentNames()
  return turns.map(({ role, blocks }) => {
    const content: JsonObject[] = []
    for (const block of blocks) content.push(unifiedBlock(block, nameOf), ...after(block))
    if (needsText(blocks)) content.push({ text: FILE_ALONE })
    return { role, content }
  })
}

/** Converse refuses a turn with a document but without text, such as a tool result with a file. */
function needsText(blocks: readonly ContentBlock[]): boolean {
  const holds = (wanted: ContentBlock['kind']) => blocks.some(({ kind }) => kind === wanted)
  return holds('document') && !holds('text')
}

function unifiedBlock(block: ContentBlock, nameOf: NameOf): JsonObject {
  switch (block.kind) {
    case 'text':
      return { text: block.text }
    case 'image':
      return {
        image: { format: block.mediaType.slice('image/'.length), source: { bytes: block.data } },
      }
    case 'document':
      return document(block, nameOf)
    case 'tool_use':
      return { toolUse: { toolUseId: block.id, name: block.name, input: block.input } }
    case 'tool_result':
      return toolResult(block, nameOf)
  }
}

function toolResult({ toolCallId, content, failed }: ToolResultBlock, nameOf: NameOf): JsonObject {
  return {
    toolResult: {
      toolUseId: toolCallId,
      content:
        typeof content !== 'string'
          ? content.map((block) => unifiedBlock(block, nameOf))
          : isBlank(content)
            ? []
            : [{ text: content }],
      ...(failed ? { status: 'error' } : {}),
    },
  }
}

function document({ mediaType, data, name, place }: MediaBlock, nameOf: NameOf): JsonObject {
  const format = DOCUMENT_FORMATS.get(mediaType)
  if (format === undefined) {
    throw invalidRequest(`${place}: files of the type ${mediaType} are not supported`)
  }
  return { document: { format, name: nameOf(name), source: { bytes: data } } }
}

/** The name of the next document of a request. */
type NameOf = (name: string | undefined) => string

/** Converse refuses two documents with the same name. */
function documentNames(): NameOf {
  const taken = new Set<string>()
  let number = 1
  return (name) => {
    const own = documentName(name)
    let unique = own
    while (taken.has(unique.toLowerCase())) {
      const suffix = ` ${++number}`
      unique = own.slice(0, LONGEST_NAME - suffix.length).trim() + suffix
    }
    taken.add(unique.toLowerCase())
    return unique
  }
}

/** Converse allows few characters in a name; the extension is in `format`. */
function documentName(name: string | undefined): string {
  const clean = (name ?? '')
    .replace(/\.[A-Za-z]{1,4}$/, '')
    .replace(/[^A-Za-z0-9 ()[\]-]+/g, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, LONGEST_NAME)
    .trim()
  return clean === '' ? 'document' : clean
}
