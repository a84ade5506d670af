import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall, ProviderResult } from 'model-gateway/provider'
import { isPresent, responseChanges, saysNothing, setMembers } from 'model-gateway/wire'
import { askedFormat } from './embedding-format.ts'
import { replyId, toolCallId } from './reply-ids.ts'

/** Sets members of the object at a path of a reply. */
type SetMembers = (members: JsonObject, ...path: (string | number)[]) => void

/** Adds members that a reply leaves out; changes nothing in a complete reply, as most are. */
export type Complete = (
  body: JsonObject,
  set: SetMembers,
  call: Pick<ProviderCall, 'body' | 'surface'>,
) => void

/** A reply plus the members that clients of its API need and the upstream left out. */
export function exactReplyOf(
  call: Pick<ProviderCall, 'body' | 'surface'>,
  result: ProviderResult,
  complete: Complete,
): ProviderResult {
  if (result.kind !== 'buffered') return result
  const changes: Parameters<SetMembers>[] = []
  complete(result.body, (...change) => changes.push(change), call)
  if (changes.length === 0) return result
  let rawBody = result.rawBody ?? JSON.stringify(result.body)
  for (const [members, ...path] of changes) rawBody = setMembers(rawBody, members, path)
  return { ...result, body: JSON.parse(rawBody) as JsonObject, rawBody }
}

/** For a chat completion. */
export const completeChat: Complete = (body, set, call) => {
  const { id, object, created, choices } = body
  if (!Array.isArray(choices)) return
  if (typeof id !== 'string') set({ id: replyId(call, undefined) })
  if (object !== 'chat.completion') set({ object: 'chat.completion' })
  if (typeof created !== 'number') set({ created: Math.floor(Date.now() / 1000) })
  for (let position = 0; position < choices.length; position++) {
    const choice = choices[position]
    if (isJsonObject(choice)) completeChoice(choice, position, set)
  }
}

function completeChoice(choice: JsonObject, position: number, set: SetMembers): void {
  const { index, finish_reason } = choice
  if (!isJsonObject(choice.message)) set({ message: {} }, 'choices', position)
  const { role, content, tool_calls } = isJsonObject(choice.message) ? choice.message : {}
  const calls = Array.isArray(tool_calls) ? tool_calls : []
  if (typeof index !== 'number') set({ index: position }, 'choices', position)
  if (saysNothing(finish_reason)) {
    set({ finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }, 'choices', position)
  }
  if (role !== 'assistant') set({ role: 'assistant' }, 'choices', position, 'message')
  if (content === undefined) set({ content: null }, 'choices', position, 'message')
  if (tool_calls !== undefined && !Array.isArray(tool_calls) && saysNothing(tool_calls)) {
    set({ tool_calls: [] }, 'choices', position, 'message')
  }
  for (const [at, called] of calls.entries()) {
    if (!isJsonObject(called)) continue
    completeCall(called, (members, ...path) =>
      set(members, 'choices', position, 'message', 'tool_calls', at, ...path),
    )
  }
}

function completeCall({ id, type, function: called }: JsonObject, set: SetMembers): void {
  if (typeof id !== 'string' || id === '') set({ id: toolCallId(undefined) })
  if (saysNothing(type)) set({ type: 'function' })
  if (!isJsonObject(called) || typeof called.arguments === 'string') return
  // Some upstreams send the object itself, or nothing for a call without arguments.
  set({ arguments: JSON.stringify(called.arguments ?? {}) }, 'function')
}

/** For a response. */
export const completeResponse: Complete = (body, set, call) => {
  if (!Array.isArray(body.output) && !isPresent(body.id) && !isPresent(body.status)) return
  if (saysNothing(body.status) && isPresent(body.error)) return
  const { tools, tool_choice, parallel_tool_calls } = call.body
  const { status: stated = null } = body
  const british = stated === 'canceled' ? 'cancelled' : stated
  const status = saysNothing(stated) ? 'completed' : british
  const changes = responseChanges(body, { status })
  if (!isPresent(body.tools)) changes.tools = tools ?? []
  if (!isPresent(body.tool_choice)) changes.tool_choice = tool_choice ?? 'auto'
  if (!isPresent(body.parallel_tool_calls)) {
    changes.parallel_tool_calls = parallel_tool_calls ?? true
  }
  if (Object.keys(changes).length > 0) set(changes)
}

/** For a list of embeddings: there may be thousands, so they are changed in one pass. */
export const completeEmbeddings: Complete = ({ object, data }, set, call) => {
  if (!Array.isArray(data)) return
  const exact = data.map((item, position) => exactEmbedding(item, position, call.body))
  if (object !== 'list') set({ object: 'list' })
  if (exact.some((item, position) => item !== data[position])) set({ data: exact })
}

/** For a text completion. */
export const completeCompletion: Complete = (body, set) => {
  const { id, object, created, choices } = body
  if (!Array.isArray(choices)) return
  if (typeof id !== 'string') set({ id: `cmpl-${crypto.randomUUID()}` })
  if (object !== 'text_completion') set({ object: 'text_completion' })
  if (typeof created !== 'number') set({ created: Math.floor(Date.now() / 1000) })
  for (const [position, choice] of choices.entries()) {
    if (!isJsonObject(choice)) continue
    const { index, text, finish_reason, logprobs } = choice
    if (typeof index !== 'number') set({ index: position }, 'choices', position)
    if (typeof text !== 'string') set({ text: '' }, 'choices', position)
    if (saysNothing(finish_reason)) set({ finish_reason: 'stop' }, 'choices', position)
    if (logprobs === undefined) set({ logprobs: null }, 'choices', position)
  }
}

/**
 * For images: older models do not report size and quality, so the request's values set the price.
 */
export const completeImages: Complete = (body, set, call) => {
  if (!Array.isArray(body.data)) return
  if (typeof body.created !== 'number') set({ created: Math.floor(Date.now() / 1000) })
  for (const name of ['quality', 'size']) {
    const { [name]: asked = null } = call.body
    if (!isPresent(body[name]) && isPresent(asked) && asked !== 'auto') set({ [name]: asked })
  }
}

/** For a list of moderations. */
export const completeModeration: Complete = (body, set) => {
  if (Array.isArray(body.results) && typeof body.id !== 'string') {
    set({ id: `modr-${crypto.randomUUID()}` })
  }
}

/**
 * For ranked documents. SGLang calls it `score`:
 * https://docs.sglang.io/docs/supported-models/rerank_models
 */
export const completeRerank: Complete = ({ results }, set) => {
  if (!Array.isArray(results)) return
  for (const [position, result] of results.entries()) {
    if (!isJsonObject(result) || isPresent(result.relevance_score)) continue
    const { score = null } = result
    if (isPresent(score)) set({ relevance_score: score }, 'results', position)
  }
}

function exactEmbedding(item: JsonValue, position: number, call: JsonObject): JsonValue {
  if (!isJsonObject(item)) return item
  const embedding = askedFormat(item.embedding, call)
  const isExact = item.object === 'embedding' && typeof item.index === 'number'
  if (isExact && embedding === item.embedding) return item
  return {
    ...item,
    object: 'embedding',
    index: typeof item.index === 'number' ? item.index : position,
    ...(embedding !== undefined && { embedding }),
  }
}
