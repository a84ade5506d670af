import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall, ProviderResult } from 'model-gateway/provider'
import { isPresent, responseChanges, saysNothing, setMembers } from 'model-gateway/wire'
import { askedFormat } from './embedding-format.ts'
import { replyId, toolCallId } from './reply-ids.ts'

/** Members to be set in the object at a path of a reply. */
type Change = readonly [members: JsonObject, path: readonly (string | number)[]]

/** A reply with what clients of its API count on, where the upstream leaves it out. */
export function exactReplyOf(
  call: Pick<ProviderCall, 'body' | 'surface'>,
  result: ProviderResult,
  changesOf: (body: JsonObject, call: Pick<ProviderCall, 'body' | 'surface'>) => Iterable<Change>,
): ProviderResult {
  if (result.kind !== 'buffered') return result
  let text: string | undefined
  for (const [members, path] of changesOf(result.body, call)) {
    if (Object.keys(members).length === 0) continue
    text = setMembers(text ?? result.rawBody ?? JSON.stringify(result.body), members, path)
  }
  return text === undefined
    ? result
    : { ...result, body: JSON.parse(text) as JsonObject, rawBody: text }
}

/** Of a chat completion. */
export function* completionChanges(
  body: JsonObject,
  call: Pick<ProviderCall, 'surface'>,
): Iterable<Change> {
  if (!Array.isArray(body.choices)) return
  yield [
    {
      ...(typeof body.id !== 'string' && { id: replyId(call, undefined) }),
      ...(body.object !== 'chat.completion' && { object: 'chat.completion' }),
      ...(typeof body.created !== 'number' && { created: Math.floor(Date.now() / 1000) }),
    },
    [],
  ]
  for (const [position, choice] of body.choices.entries()) {
    if (!isJsonObject(choice)) continue
    const message = isJsonObject(choice.message) ? choice.message : {}
    const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
    const path = ['choices', position]
    yield [
      {
        ...(typeof choice.index !== 'number' && { index: position }),
        ...(saysNothing(choice.finish_reason) && {
          finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
        }),
        ...(message !== choice.message && { message: {} }),
      },
      path,
    ]
    const inMessage = [...path, 'message']
    yield [
      {
        ...(message.role !== 'assistant' && { role: 'assistant' }),
        ...(message.content === undefined && { content: null }),
        ...(message.tool_calls === null && { tool_calls: [] }),
      },
      inMessage,
    ]
    for (const [at, each] of calls.entries()) {
      if (isJsonObject(each)) yield* toolCallChanges(each, [...inMessage, 'tool_calls', at])
    }
  }
}

function* toolCallChanges(call: JsonObject, path: readonly (string | number)[]): Iterable<Change> {
  const { id, type, function: called } = call
  yield [
    {
      ...((typeof id !== 'string' || id === '') && { id: toolCallId(undefined) }),
      ...(saysNothing(type) && { type: 'function' }),
    },
    path,
  ]
  if (!isJsonObject(called)) return
  const { arguments: written } = called
  // Some upstreams give the object itself, or nothing for a call without arguments.
  const text = isPresent(written) ? JSON.stringify(written) : '{}'
  yield [typeof written === 'string' ? {} : { arguments: text }, [...path, 'function']]
}

/** Of a response. */
export function* responseReplyChanges(
  body: JsonObject,
  call: Pick<ProviderCall, 'body'>,
): Iterable<Change> {
  if (!Array.isArray(body.output) && !isPresent(body.id) && !isPresent(body.status)) return
  if (saysNothing(body.status) && isPresent(body.error)) return
  const { tools, tool_choice, parallel_tool_calls } = call.body
  const asked = {
    tools: tools ?? [],
    tool_choice: tool_choice ?? 'auto',
    parallel_tool_calls: parallel_tool_calls ?? true,
  }
  const status = body.status === 'canceled' ? 'cancelled' : (body.status ?? 'completed')
  yield [
    {
      ...responseChanges(body, { status }),
      ...Object.fromEntries(Object.entries(asked).filter(([name]) => !isPresent(body[name]))),
    },
    [],
  ]
}

/** Of a list of embeddings. There may be thousands, so that they change all at once. */
export function* embeddingsChanges(
  body: JsonObject,
  call: Pick<ProviderCall, 'body'>,
): Iterable<Change> {
  const given = body.data
  if (!Array.isArray(given)) return
  const data = given.map((item, position) => exactEmbedding(item, position, call.body))
  const isExact = data.every((item, position) => item === given[position])
  yield [{ ...(body.object !== 'list' && { object: 'list' }), ...(!isExact && { data }) }, []]
}

function exactEmbedding(item: JsonValue, position: number, call: JsonObject): JsonValue {
  if (!isJsonObject(item)) return item
  const embedding = askedFormat(item.embedding, call)
  const isExact = item.object === 'embedding' && typeof item.index === 'number'
  if (isExact && embedding === item.embedding) return item
  return {
    ...item,
    object: 'embedding',
    index: item.index ?? position,
    ...(embedding !== undefined && { embedding }),
  }
}
