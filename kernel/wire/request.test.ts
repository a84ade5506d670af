import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../plugin/errors.ts'
import type { JsonObject, JsonValue } from '../plugin/json.ts'
import { readChatRequest, readEmbeddingsRequest, readResponsesRequest } from './request.ts'

const messages = [{ role: 'user', content: 'hi' }]
const readers = {
  chat_completions: readChatRequest,
  responses: readResponsesRequest,
  embeddings: readEmbeddingsRequest,
}
type Api = keyof typeof readers
const needs = (api: Api, body: JsonObject) => readers[api]({ model: 'm', ...body }).features

function refusal(api: Api, body: JsonValue): string {
  try {
    readers[api](body)
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message
    throw error
  }
  return 'accepted'
}

describe('what a request needs of its route', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }
  const tool = { type: 'function', function: { name: 'f' } }
  const schema = { type: 'json_schema', json_schema: { name: 'x', schema: {} } }
  const cases: [Api, JsonObject, string[]][] = [
    ['chat_completions', { messages }, []],
    ['chat_completions', { messages, stream: true }, ['stream']],
    ['chat_completions', { messages, stream: null, tools: null, response_format: null }, []],
    ['chat_completions', { messages, tools: [] }, []],
    ['chat_completions', { messages, tools: [tool] }, ['tools']],
    ['chat_completions', { messages: [{ role: 'user', content: [image] }] }, ['vision']],
    ['chat_completions', { messages, response_format: schema }, ['json_schema']],
    ['chat_completions', { messages, response_format: { type: 'json_object' } }, []],
    ['responses', { input: 'hi' }, []],
    [
      'responses',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] },
      ['vision'],
    ],
    [
      'responses',
      { input: [{ output: { type: 'computer_screenshot' } }, { role: 'user', content: 'hi' }] },
      ['vision'],
    ],
    [
      'chat_completions',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'hi' },
              { type: 'tool_result', content: [{ type: 'text' }, { type: 'image' }] },
            ],
          },
        ],
      },
      ['vision'],
    ],
    ['responses', { input: [{ output: [{ type: 'input_image' }] }] }, ['vision']],
    ['responses', { prompt: { id: 'p' } }, []],
    ['responses', { input: null, previous_response_id: 'r' }, []],
    ['responses', { conversation: 'c' }, []],
    ['responses', { input: 'hi', text: { format: { type: 'json_schema' } } }, ['json_schema']],
    [
      'responses',
      { input: 'hi', tools: [{ type: 'web_search' }], stream: true },
      ['stream', 'tools'],
    ],
    ['embeddings', { input: 'hi' }, []],
    ['embeddings', { input: ['hi', 'ho'] }, []],
  ]
  test.each(cases)('%s %j', (family, body, more) => {
    expect(needs(family, body)).toEqual(more as ReturnType<typeof needs>)
  })
})

test('offered tools are counted, and embeddings have none to count', () => {
  const body = { model: 'm', messages, tools: [{ type: 'function' }, { type: 'function' }] }
  expect(readChatRequest(body).exposedToolCount).toBe(2)
  expect(readChatRequest({ model: 'm', messages }).exposedToolCount).toBe(0)
  expect(readEmbeddingsRequest({ model: 'm', input: 'x' }).exposedToolCount).toBeUndefined()
})

test.each([
  ['chat_completions', [], 'object'],
  ['chat_completions', 'x', 'object'],
  ['chat_completions', { messages }, 'model'],
  ['chat_completions', { model: '', messages }, 'model'],
  ['chat_completions', { model: 1, messages }, 'model'],
  ['chat_completions', { model: 'm' }, 'messages'],
  ['chat_completions', { model: 'm', messages: [] }, 'messages'],
  ['chat_completions', { model: 'm', messages: [1] }, 'messages'],
  ['chat_completions', { model: 'm', messages, stream: 1 }, 'stream'],
  ['chat_completions', { model: 'm', messages, tools: 1 }, 'tools'],
  ['chat_completions', { model: 'm', messages, response_format: 1 }, 'response_format'],
  ['responses', { model: 'm', input: 1 }, 'input'],
  ['responses', { model: 'm', prompt: null }, 'input'],
  ['responses', { model: 'm', input: 'x', text: { format: 1 } }, 'text.format'],
  ['embeddings', { model: 'm' }, 'input'],
  ['embeddings', { model: 'm', input: 'x', stream: true }, 'stream'],
] as [Api, JsonValue, string][])('%s %j is refused and names %s', (family, body, field) => {
  expect(refusal(family, body)).toContain(field)
})

test('unknown fields are for the upstream to judge', () => {
  for (const unread of [{ whatever: { deep: [1] } }, { stream_options: 'all' }]) {
    expect(refusal('chat_completions', { model: 'm', messages, ...unread })).toBe('accepted')
  }
})
