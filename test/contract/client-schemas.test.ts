/** Held against the SDKs' own types: `bun run typecheck` proves the first part, without running it. */
import { expect, test } from 'bun:test'
import type Anthropic from '@anthropic-ai/sdk'
import type { Static } from '@sinclair/typebox'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'
import type OpenAI from 'openai'
import type * as shapes from './client-schemas.ts'
import { eventFaults, replyFaults } from './client-shape.ts'

/** A type of an SDK, in which what may be null may be missing. */
type Lenient<T> = T extends readonly (infer Item)[]
  ? Lenient<Item>[]
  : T extends object
    ? { [K in keyof T as null extends T[K] ? never : K]: Lenient<T[K]> } & {
        [K in keyof T as null extends T[K] ? K : never]?: Lenient<T[K]>
      }
    : T

/** Whatever a schema takes, the SDK's type takes, too. */
type Fits<Shape, Official, Aside extends string = never> =
  Shape extends Lenient<Omit<Official, Aside>> ? true : never
type Shapes = typeof shapes
type Items = Shapes['outputItems']
type Events = Shapes['responseEvents']
type Blocks = Shapes['contentBlocks']
type Chunk = OpenAI.ChatCompletionChunk
type Response = OpenAI.Responses.Response
type Streamed<T> = Extract<OpenAI.Responses.ResponseStreamEvent, { type: T }>
type Message<T> = Extract<Anthropic.RawMessageStreamEvent, { type: T }>

/** What a response echoes of its request, and what the SDK adds to it. */
type Echo = 'tools' | 'tool_choice' | 'parallel_tool_calls' | 'output_text'

const proved: readonly true[] = [
  true satisfies Fits<Static<Shapes['chatChunk']>, Chunk>,
  true satisfies Fits<Static<Shapes['chatCompletion']>, OpenAI.ChatCompletion>,
  true satisfies Fits<
    Static<Shapes['embeddingList']>,
    OpenAI.CreateEmbeddingResponse,
    'usage' | 'data'
  >,
  true satisfies Fits<Static<Shapes['embedding']>, OpenAI.Embedding, 'embedding'>,
  true satisfies Fits<Static<Items['message']>, OpenAI.Responses.ResponseOutputMessage>,
  true satisfies Fits<Static<Items['function_call']>, OpenAI.Responses.ResponseFunctionToolCall>,
  true satisfies Fits<Static<Items['reasoning']>, OpenAI.Responses.ResponseReasoningItem>,
  true satisfies Fits<Static<Shapes['responseReply']>, Response, Echo | 'output'>,
  true satisfies Fits<Static<Events['response.created']>, Streamed<'response.created'>, 'response'>,
  true satisfies Fits<
    Static<Events['response.completed']>,
    Streamed<'response.completed'>,
    'response'
  >,
  true satisfies Fits<
    Static<Events['response.output_item.added']>,
    Streamed<'response.output_item.added'>,
    'item'
  >,
  true satisfies Fits<
    Static<Events['response.content_part.added']>,
    Streamed<'response.content_part.added'>
  >,
  true satisfies Fits<
    Static<Events['response.output_text.delta']>,
    Streamed<'response.output_text.delta'>
  >,
  true satisfies Fits<
    Static<Events['response.output_text.done']>,
    Streamed<'response.output_text.done'>
  >,
  true satisfies Fits<
    Static<Events['response.function_call_arguments.delta']>,
    Streamed<'response.function_call_arguments.delta'>
  >,
  true satisfies Fits<Static<Events['error']>, Streamed<'error'>>,
  true satisfies Fits<Static<Blocks['text']>, Anthropic.TextBlock>,
  true satisfies Fits<Static<Blocks['tool_use']>, Anthropic.ToolUseBlock, 'caller'>,
  true satisfies Fits<Static<Blocks['thinking']>, Anthropic.ThinkingBlock>,
  true satisfies Fits<Static<Blocks['redacted_thinking']>, Anthropic.RedactedThinkingBlock>,
  true satisfies Fits<Static<Shapes['messageReply']>, Anthropic.Message, 'content'>,
  true satisfies Fits<
    Static<Shapes['messageEvents']['content_block_delta']>,
    Message<'content_block_delta'>
  >,
  true satisfies Fits<Static<Shapes['messageEvents']['message_delta']>, Message<'message_delta'>>,
]

test('the schemas take what the SDKs’ types take', () => {
  expect(proved.length).toBeGreaterThan(20)
})

const one = (data: object): readonly StreamEvent[] => [streamEvent(JSON.stringify(data))]
const chunk = {
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: 'stop' }],
}
const response = { id: 'r', object: 'response', created_at: 1, model: 'm', output: [] }

test.each([
  ['chat_completions', {}, '/choices'],
  ['responses', {}, '/output'],
  ['responses', { ...response, output: [{ type: 'message', id: 'm', content: [] }] }, '/role'],
  ['embeddings', { object: 'list', model: 'm', data: [{ embedding: [1] }] }, '/data/0/index'],
  ['messages', { type: 'message', content: [{ type: 'tool_use', name: 'f' }] }, '/id'],
])('a reply of %s that clients would trip over: %j', (dialect, reply, place) => {
  expect(replyFaults(dialect, reply as never).join('\n')).toContain(place)
})

test.each([
  ['chat_completions', { ...chunk, choices: undefined }, '/choices'],
  [
    'chat_completions',
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    'role',
  ],
  ['responses', { type: 'response.custom' }, '/sequence_number'],
  ['responses', { type: 'response.created', sequence_number: 0, response: {} }, '/output'],
  ['messages', { type: 'content_block_stop' }, '/index'],
])('an event of %s that they would: %j', (dialect, data, place) => {
  expect(eventFaults(dialect, one(data)).join('\n')).toContain(place)
})

test('what they take has no faults', () => {
  expect(eventFaults('chat_completions', one(chunk))).toEqual([])
  expect(replyFaults('responses', response)).toEqual([])
  expect(replyFaults('unheard-of', {})).toEqual([])
})
