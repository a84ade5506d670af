import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { StateReference, Ties } from 'model-gateway/surface'
import { isPresent } from 'model-gateway/wire'

/** Roles of answers: their text comes from earlier calls. */
const ANSWERS: ReadonlySet<JsonValue | undefined> = new Set(['assistant', 'model', 'tool'])

/** Identifies the conversation of a chat call, or of a messages call. */
export function chatTies(request: Readonly<JsonObject>): Ties {
  const messages = listOf(request.messages)
  const key = cacheKey(request)
  return {
    state: chatState(request),
    head: key ?? headOf(messages),
    continues: key !== undefined || messages.some(({ role }) => ANSWERS.has(role)),
  }
}

/** The same for a responses call, whose upstream may store the conversation. */
export function responsesTies(request: Readonly<JsonObject>): Ties {
  const items = listOf(request.input)
  const state = responsesState(request, items)
  const key = cacheKey(request)
  const isKept = isPresent(request.previous_response_id) || isPresent(request.conversation)
  const text = typeof request.input === 'string' ? request.input : headOf(items)
  return {
    state,
    head: key ?? (isKept ? undefined : text),
    continues:
      key !== undefined ||
      state.length > 0 ||
      items.some(({ role, type }) => ANSWERS.has(role) || isAnswer(type)),
  }
}

/** The caller's grouping key, as OpenAI has it. */
function cacheKey({ prompt_cache_key: key }: Readonly<JsonObject>): string | undefined {
  return typeof key === 'string' && key !== '' ? key : undefined
}

function chatState({ container }: Readonly<JsonObject>): readonly StateReference[] {
  const id = isJsonObject(container) ? container.id : container
  return reference('container', id)
}

function responsesState(
  request: Readonly<JsonObject>,
  items: readonly JsonObject[],
): readonly StateReference[] {
  const { previous_response_id: previous, conversation, tools } = request
  const state = [
    ...reference('previous_response_id', previous),
    ...reference('conversation', isJsonObject(conversation) ? conversation.id : conversation),
  ]
  for (const { type, id, encrypted_content: encrypted } of items.toReversed()) {
    if (type === 'item_reference' || type === 'reasoning') state.push(...reference('input', id))
    state.push(...reference('input', encrypted))
  }
  for (const { container } of listOf(tools)) state.push(...reference('tools', container))
  return state
}

function reference(member: string, id: JsonValue | undefined): StateReference[] {
  return typeof id === 'string' && id !== '' ? [{ member, id }] : []
}

/** Input items that a model created, or that answer its calls. */
function isAnswer(type: JsonValue | undefined): boolean {
  return (
    type === 'reasoning' ||
    type === 'item_reference' ||
    type === 'compaction' ||
    (typeof type === 'string' && /_call(?:_output)?$/.test(type))
  )
}

/** The first user text, because instructions before it may contain the time. */
function headOf(messages: readonly JsonObject[]): string | undefined {
  const first = messages.find(({ role }) => role === 'user') ?? messages[0]
  return first && JSON.stringify(first.content ?? first)
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
