/**
 * What the types of the official SDKs (npm `openai`, `@anthropic-ai/sdk`) demand of replies and events,
 * as far as they have to be there: client-schemas.test.ts holds them against those types. A member
 * that may be null may be missing, because the SDKs read both as nothing.
 */
import { type TSchema, Type } from '@sinclair/typebox'

const nullable = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
const oneOf = <T extends string>(...values: readonly T[]) =>
  Type.Union(values.map((v) => Type.Literal(v)))

const chatUsage = Type.Object({
  prompt_tokens: Type.Number(),
  completion_tokens: Type.Number(),
  total_tokens: Type.Number(),
})
const finishReason = oneOf('stop', 'length', 'tool_calls', 'content_filter', 'function_call')

export const chatDelta = Type.Object({
  content: nullable(Type.String()),
  refusal: nullable(Type.String()),
  role: Type.Optional(oneOf('developer', 'system', 'user', 'assistant', 'tool')),
  tool_calls: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Number(),
        id: Type.Optional(Type.String()),
        type: Type.Optional(oneOf('function', 'custom')),
        function: Type.Optional(
          Type.Object({
            name: Type.Optional(Type.String()),
            arguments: Type.Optional(Type.String()),
          }),
        ),
      }),
    ),
  ),
})
export const chatChunk = Type.Object({
  id: Type.String(),
  object: Type.Literal('chat.completion.chunk'),
  created: Type.Number(),
  model: Type.String(),
  choices: Type.Array(
    Type.Object({
      index: Type.Number(),
      delta: chatDelta,
      finish_reason: Type.Union([finishReason, Type.Null()]),
    }),
  ),
  usage: nullable(chatUsage),
})

export const chatMessage = Type.Object({
  role: Type.Literal('assistant'),
  content: nullable(Type.String()),
  refusal: nullable(Type.String()),
  tool_calls: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String(),
        type: Type.Literal('function'),
        function: Type.Object({ name: Type.String(), arguments: Type.String() }),
      }),
    ),
  ),
})
export const chatCompletion = Type.Object({
  id: Type.String(),
  object: Type.Literal('chat.completion'),
  created: Type.Number(),
  model: Type.String(),
  choices: Type.Array(
    Type.Object({ index: Type.Number(), message: chatMessage, finish_reason: finishReason }),
  ),
  usage: Type.Optional(chatUsage),
})

/** An embedding in the format of the SDK's default, base64, or in floats. */
export const embedding = Type.Object({
  object: Type.Literal('embedding'),
  index: Type.Number(),
  embedding: Type.Union([Type.Array(Type.Number()), Type.String()]),
})
/** Its usage is what the upstream states, if it does. */
export const embeddingList = Type.Object({
  object: Type.Literal('list'),
  model: Type.String(),
  data: Type.Array(embedding),
})

const itemStatus = oneOf('in_progress', 'completed', 'incomplete')
const outputPart = Type.Union([
  Type.Object({
    type: Type.Literal('output_text'),
    text: Type.String(),
    annotations: Type.Array(Type.Any()),
  }),
  Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() }),
])

/** Items by their type; others only have to have one. */
export const outputItems = {
  message: Type.Object({
    type: Type.Literal('message'),
    id: Type.String(),
    role: Type.Literal('assistant'),
    status: itemStatus,
    content: Type.Array(outputPart),
  }),
  function_call: Type.Object({
    type: Type.Literal('function_call'),
    id: Type.String(),
    call_id: Type.String(),
    name: Type.String(),
    arguments: Type.String(),
    status: Type.Optional(itemStatus),
  }),
  reasoning: Type.Object({
    type: Type.Literal('reasoning'),
    id: Type.String(),
    summary: Type.Array(Type.Object({ type: Type.Literal('summary_text'), text: Type.String() })),
  }),
}
export const otherItem = Type.Object({ type: Type.String() })

/** What it echoes of its request, `tools` and the like, is the upstream's to say. */
export const responseReply = Type.Object({
  id: Type.String(),
  object: Type.Literal('response'),
  created_at: Type.Number(),
  model: Type.String(),
  output: Type.Array(otherItem),
  status: Type.Optional(
    oneOf('completed', 'failed', 'in_progress', 'cancelled', 'queued', 'incomplete'),
  ),
})

const numbered = { sequence_number: Type.Number() }
const inItem = { ...numbered, item_id: Type.String(), output_index: Type.Number() }
const inPart = { ...inItem, content_index: Type.Number() }
const ofItem = { ...numbered, output_index: Type.Number(), item: otherItem }
const ofResponse = { ...numbered, response: responseReply }
const event = <T extends string, M extends Record<string, TSchema>>(type: T, members: M) =>
  Type.Object({ type: Type.Literal(type), ...members })

/** Events by their type; others only have to have one, and a number. */
export const responseEvents = {
  'response.created': event('response.created', ofResponse),
  'response.in_progress': event('response.in_progress', ofResponse),
  'response.completed': event('response.completed', ofResponse),
  'response.incomplete': event('response.incomplete', ofResponse),
  'response.failed': event('response.failed', ofResponse),
  'response.output_item.added': event('response.output_item.added', ofItem),
  'response.output_item.done': event('response.output_item.done', ofItem),
  'response.content_part.added': event('response.content_part.added', {
    ...inPart,
    part: outputPart,
  }),
  'response.content_part.done': event('response.content_part.done', {
    ...inPart,
    part: outputPart,
  }),
  'response.output_text.delta': event('response.output_text.delta', {
    ...inPart,
    delta: Type.String(),
    logprobs: Type.Array(Type.Any()),
  }),
  'response.output_text.done': event('response.output_text.done', {
    ...inPart,
    text: Type.String(),
    logprobs: Type.Array(Type.Any()),
  }),
  'response.refusal.delta': event('response.refusal.delta', { ...inPart, delta: Type.String() }),
  'response.refusal.done': event('response.refusal.done', { ...inPart, refusal: Type.String() }),
  'response.function_call_arguments.delta': event('response.function_call_arguments.delta', {
    ...inItem,
    delta: Type.String(),
  }),
  'response.function_call_arguments.done': event('response.function_call_arguments.done', {
    ...inItem,
    arguments: Type.String(),
  }),
  error: event('error', {
    ...numbered,
    message: Type.String(),
    code: nullable(Type.String()),
    param: nullable(Type.String()),
  }),
}
export const otherEvent = Type.Object({ type: Type.String(), ...numbered })

const stopReason = oneOf(
  ...(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal'] as const),
)

/** Blocks by their type. `caller` of a tool's call is left out by the API itself. */
export const contentBlocks = {
  text: Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  tool_use: Type.Object({
    type: Type.Literal('tool_use'),
    id: Type.String(),
    name: Type.String(),
    input: Type.Any(),
  }),
  thinking: Type.Object({
    type: Type.Literal('thinking'),
    thinking: Type.String(),
    signature: Type.String(),
  }),
  redacted_thinking: Type.Object({ type: Type.Literal('redacted_thinking'), data: Type.String() }),
}
const otherBlock = Type.Object({ type: Type.String() })
export const messageReply = Type.Object({
  id: Type.String(),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Type.String(),
  content: Type.Array(otherBlock),
  stop_reason: nullable(stopReason),
  stop_sequence: nullable(Type.String()),
  usage: Type.Object({ input_tokens: Type.Number(), output_tokens: Type.Number() }),
})

const inBlock = { index: Type.Number() }
const delta = <T extends string, M extends Record<string, TSchema>>(type: T, members: M) =>
  Type.Object({ type: Type.Literal(type), ...members })
export const messageEvents = {
  message_start: event('message_start', { message: messageReply }),
  content_block_start: event('content_block_start', { ...inBlock, content_block: otherBlock }),
  content_block_delta: event('content_block_delta', {
    ...inBlock,
    delta: Type.Union([
      delta('text_delta', { text: Type.String() }),
      delta('input_json_delta', { partial_json: Type.String() }),
      delta('thinking_delta', { thinking: Type.String() }),
      delta('signature_delta', { signature: Type.String() }),
    ]),
  }),
  content_block_stop: event('content_block_stop', inBlock),
  message_delta: event('message_delta', {
    delta: Type.Object({
      stop_reason: nullable(stopReason),
      stop_sequence: nullable(Type.String()),
    }),
    usage: Type.Object({ output_tokens: Type.Number() }),
  }),
  message_stop: event('message_stop', {}),
}
