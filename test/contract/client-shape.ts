import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { StreamEvent } from 'model-gateway/wire'
import {
  chatChunk,
  chatCompletion,
  contentBlocks,
  embeddingList,
  messageEvents,
  messageReply,
  otherEvent,
  outputItems,
  responseEvents,
  responseReply,
} from './client-schemas.ts'

type ByType = Readonly<Record<string, TSchema>>

const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? value : []
const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})

/**
 * Where official clients of a dialect would trip over a whole reply, in words; nothing for a dialect that
 * they do not speak.
 */
export function replyFaults(dialect: string, reply: JsonObject): string[] {
  if (dialect === 'chat_completions') return faultsOf(chatCompletion, reply)
  if (dialect === 'embeddings') return faultsOf(embeddingList, reply)
  if (dialect === 'responses') return responseFaults(reply)
  return dialect === 'messages' ? messageFaults(reply) : []
}

/** The same of the events of a stream that went well. */
export function eventFaults(dialect: string, events: readonly StreamEvent[]): string[] {
  const told = events.filter(({ data }) => data !== '[DONE]').map((event) => objectOf(event.json()))
  const faults = told.flatMap((data, at) =>
    oneEventFaults(dialect, data).map((fault) => `event ${at} ${data.type ?? ''}: ${fault}`),
  )
  return dialect === 'chat_completions' ? [...faults, ...choiceFaults(told)] : faults
}

function oneEventFaults(dialect: string, data: JsonObject): string[] {
  if (dialect === 'chat_completions') return faultsOf(chatChunk, data)
  if (dialect === 'responses') {
    const parts = [
      ...itemFaults(data.item),
      ...(isJsonObject(data.response) ? responseFaults(data.response) : []),
    ]
    return [...faultsByType(responseEvents, data, otherEvent), ...parts]
  }
  if (dialect !== 'messages') return []
  return [
    ...faultsByType(messageEvents, data),
    ...(isJsonObject(data.message) ? messageFaults(data.message) : []),
    ...blockFaults(data.content_block),
  ]
}

function responseFaults(reply: JsonObject): string[] {
  return [...faultsOf(responseReply, reply), ...listOf(reply.output).flatMap(itemFaults)]
}

function itemFaults(item: JsonValue | undefined): string[] {
  return isJsonObject(item) ? faultsByType(outputItems, item) : []
}

function messageFaults(reply: JsonObject): string[] {
  return [...faultsOf(messageReply, reply), ...listOf(reply.content).flatMap(blockFaults)]
}

function blockFaults(block: JsonValue | undefined): string[] {
  return isJsonObject(block) ? faultsByType(contentBlocks, block) : []
}

function faultsByType(schemas: ByType, value: JsonObject, other?: TSchema): string[] {
  const schema = schemas[String(value.type)] ?? other
  return schema === undefined ? [] : faultsOf(schema, value)
}

function faultsOf(schema: TSchema, value: JsonValue): string[] {
  const plain = JSON.parse(JSON.stringify(value)) as Static<TSchema>
  return [...Value.Errors(schema, plain)].map(({ path, message }) => `${path}: ${message}`)
}

/** What a client puts together of chunks begins with a role, and it ends. */
function choiceFaults(chunks: readonly JsonObject[]): string[] {
  const begun = new Set<JsonValue>()
  const ended = new Set<JsonValue>()
  const wrong: string[] = []
  for (const chunk of chunks) {
    for (const each of listOf(chunk.choices)) {
      const { index = 0, delta, finish_reason } = objectOf(each)
      if (!begun.has(index) && objectOf(delta).role !== 'assistant') {
        wrong.push(`choice ${index}: its first delta has no role "assistant"`)
      }
      begun.add(index)
      if (typeof finish_reason === 'string') ended.add(index)
    }
  }
  const open = [...begun].filter((index) => !ended.has(index))
  return [...wrong, ...open.map((index) => `choice ${index}: it has no finish_reason`)]
}
