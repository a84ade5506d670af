import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { toolsUsed } from 'model-gateway/wire'
import { toolCallId } from './reply-ids.ts'
import { isCall } from './responses-chat-pairs.ts'
import { preserve } from './responses-chat-reasoning.ts'
import { stated, totalOf } from './stated-count.ts'
import type { ToolNames } from './tool-names.ts'

/** Separates texts that are separate in a response, but one text in a chat. */
export const BETWEEN = '\n\n'

/** The text of a response as one string, and annotations by position. */
export interface Said {
  readonly text: string
  readonly refusal: string
  readonly annotations: readonly JsonObject[]
  readonly logprobs: readonly JsonValue[]
}

/** The content of the messages among the output items. */
export function readMessages(output: readonly JsonObject[]): Said {
  let text = ''
  let refusal = ''
  const annotations: JsonObject[] = []
  const logprobs: JsonValue[] = []
  for (const item of output) {
    let between = text === '' ? '' : BETWEEN
    for (const part of contentOf(item)) {
      if (typeof part.refusal === 'string') refusal += part.refusal
      if (typeof part.text !== 'string' || part.text === '') continue
      const start = text.length + between.length
      text += between + part.text
      between = ''
      annotations.push(...citations(part.annotations, start))
      if (Array.isArray(part.logprobs)) logprobs.push(...part.logprobs)
    }
  }
  return { text, refusal, annotations, logprobs }
}

/** The parts of a message item. */
export function contentOf({ type, content }: JsonObject): JsonObject[] {
  return type === 'message' ? objectsIn(content) : []
}

/** The thinking of a reasoning item: summaries, else the reasoning text. */
export function thoughtsIn({ type, summary, content }: JsonObject): string[] {
  if (type !== 'reasoning') return []
  const texts = (list: JsonValue | undefined) =>
    objectsIn(list).flatMap(({ text }) => (typeof text === 'string' && text !== '' ? [text] : []))
  const told = texts(summary)
  return told.length > 0 ? told : texts(content)
}

/** A tool call in chat format; a function without arguments gets empty ones. */
export function chatCall(item: JsonObject, names: Pick<ToolNames, 'asked'>): JsonObject {
  const { input } = item
  const id = toolCallId(item.call_id)
  const name = names.asked(String(item.name))
  if (item.type === 'custom_tool_call') {
    return { id, type: 'custom', custom: { name, input: typeof input === 'string' ? input : '' } }
  }
  return { id, type: 'function', function: { name, arguments: item.arguments || '{}' } }
}

/** Other members of a message; empty ones are left out. */
export function closingMembers(
  output: readonly JsonObject[],
  { annotations }: Said,
  { providerType, streamed }: { readonly providerType: string; readonly streamed: boolean },
): JsonObject {
  const reasoning = preserve(output, streamed)
  return {
    ...(annotations.length > 0 && { annotations: [...annotations] }),
    ...(reasoning !== undefined && { provider_metadata: { [providerType]: { reasoning } } }),
  }
}

/** The finish reason for a response with this output. */
export function finishReason(
  { status, incomplete_details: details }: JsonObject,
  output: readonly JsonObject[],
): string {
  if (status === 'incomplete') {
    const reason = isJsonObject(details) ? details.reason : undefined
    return reason === 'content_filter' ? 'content_filter' : 'length'
  }
  return output.some(isCall) ? 'tool_calls' : 'stop'
}

/** The same usage, with the names of chat completions. */
export function usageFromResponses(
  raw: JsonValue | undefined,
  output: readonly JsonObject[] = [],
): JsonObject | undefined {
  if (!isJsonObject(raw)) return undefined
  const tools = toolsUsed(output)
  const { input_tokens, output_tokens, input_tokens_details, output_tokens_details, ...rest } = raw
  const total = raw.total_tokens ?? totalOf(stated(input_tokens), stated(output_tokens))
  return {
    ...(tools && { server_tool_use: tools }),
    ...rest,
    ...(total !== undefined && { total_tokens: total }),
    ...(input_tokens !== undefined && { prompt_tokens: input_tokens }),
    ...(output_tokens !== undefined && { completion_tokens: output_tokens }),
    ...(isJsonObject(input_tokens_details) && { prompt_tokens_details: input_tokens_details }),
    ...(isJsonObject(output_tokens_details) && {
      completion_tokens_details: output_tokens_details,
    }),
    provider_usage: raw,
  }
}

/** The objects of a list. */
export function objectsIn(list: JsonValue | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

/** Chats have only web sources. */
function citations(list: JsonValue | undefined, offset: number): JsonObject[] {
  return objectsIn(list).flatMap(({ type, url, title, start_index, end_index }) => {
    if (type !== 'url_citation' || typeof url !== 'string') return []
    const at = (index: JsonValue | undefined) =>
      typeof index === 'number' ? index + offset : offset
    const url_citation = {
      url,
      title: typeof title === 'string' ? title : url,
      start_index: at(start_index),
      end_index: at(end_index),
    }
    return [{ type, url_citation }]
  })
}
