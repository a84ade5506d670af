import { describe, expect, test } from 'bun:test'
import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

import { readChatUsage, UNSIGNED } from 'model-gateway/wire'
import { callError } from '../../../kernel/wire/dialect-stream.ts'
import { messagesError } from '../error.ts'
import { messagesReply } from './reply.ts'

const identity = { publicModel: 'mine', requestId: 'r/1' }
const fn = (name: string, args?: JsonValue) => ({
  name,
  ...(args !== undefined && { arguments: args }),
})

function replyTo(message: JsonObject, rest: JsonObject = {}, finish: JsonValue = 'stop') {
  const chat: JsonObject = { choices: [{ index: 0, message, finish_reason: finish }], ...rest }
  return messagesReply(chat, readChatUsage(chat.usage), identity)
}

test('a whole reply', () => {
  const reply = replyTo(
    {
      content: 'It is sunny.',
      reasoning_content: 'not for this API',
      provider_metadata: {
        cloud_y: {
          reasoning: {
            source: 'anthropic_messages',
            blocks: [
              { type: 'thinking', thinking: 'hm', signature: 's' },
              { type: 'redacted_thinking', data: 'd' },
              { type: 'thinking', thinking: 'so' },
            ],
          },
        },
      },
      tool_calls: [{ id: 't1', type: 'function', function: fn('f', '{"a":1}') }],
    },
    {
      id: 'msg_up',
      model: 'theirs',
      usage: {
        prompt_tokens: 100,
        completion_tokens: 7,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      },
    },
    'tool_calls',
  )
  expect(reply).toEqual({
    id: 'msg_up',
    type: 'message',
    role: 'assistant',
    model: 'mine',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'thinking', thinking: 'so', signature: UNSIGNED },
      { type: 'text', text: 'It is sunny.' },
      { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: 10,
      output_tokens: 7,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 60,
    },
  })
})

describe('the stop reason', () => {
  const cases: [JsonValue, string][] = [
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['content_filter', 'refusal'],
    ['anything', 'end_turn'],
    [null, 'end_turn'],
  ]
  test.each(cases)('%p is %s', (finish, reason) => {
    expect(replyTo({ content: 'x' }, {}, finish).stop_reason).toBe(reason)
  })
  test('stop with a tool call is tool_use, length stays', () => {
    const message = { content: null, tool_calls: [{ id: 't', function: fn('f', '{}') }] }
    expect(replyTo(message).stop_reason).toBe('tool_use')
    expect(replyTo(message, {}, 'length').stop_reason).toBe('max_tokens')
  })
})

describe('content', () => {
  const blocksOf = (message: JsonObject) => replyTo(message).content as JsonObject[]

  test.each([
    [{ content: null }, []],
    [{ content: '' }, []],
    [
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      ['ab'],
    ],
    [{ content: null, refusal: 'I will not.' }, ['I will not.']],
  ] as [JsonObject, string[]][])('%j', (message, texts) => {
    expect(blocksOf(message)).toEqual(texts.map((text) => ({ type: 'text', text })))
  })

  test.each<[string, JsonObject[], string, string]>([
    ['unified', [{ type: 'reasoning_text', text: 'hm', signature: 's' }], 'hm', 's'],
    ['google_content', [{ text: 'h' }, { text: 'm', thoughtSignature: 'x' }], 'hm', UNSIGNED],
  ])('reasoning of the source %s', (source, blocks, thinking, signature) => {
    const provider_metadata = { cloud_x: { reasoning: { source, blocks } } }
    expect(blocksOf({ content: 'x', provider_metadata })).toEqual([
      { type: 'thinking', thinking, signature },
      { type: 'text', text: 'x' },
    ])
  })

  test.each(['reasoning', 'reasoning_content', 'reasoning_text'])('thinking as %s', (name) => {
    const [first] = blocksOf({ content: 'x', [name]: 'hm' })
    expect(first).toEqual({ type: 'thinking', thinking: 'hm', signature: UNSIGNED })
  })

  test.each([
    ['{"a":1}', { a: 1 }],
    ['', {}],
    [undefined, {}],
    [{ a: 1 }, { a: 1 }],
    ['{"a":', { _raw_arguments: '{"a":' }],
    ['1234567890123456789', { _raw_arguments: '1234567890123456789' }],
    ['[1]', { _raw_arguments: '[1]' }],
  ] as [JsonValue | undefined, JsonObject][])('arguments %p', (text, input) => {
    const tool_calls = [{ id: 't', function: fn('f', text) }]
    expect(blocksOf({ tool_calls })).toEqual([{ type: 'tool_use', id: 't', name: 'f', input }])
  })

  test('an upstream without ids', () => {
    const reply = replyTo({ tool_calls: [{ function: fn('f') }, { id: '', function: fn('g') }] })
    expect(reply.id).toBe('msg_r_1')
    expect((reply.content as JsonObject[]).map(({ id }) => id)).toEqual([
      'toolu_r_1_0',
      'toolu_r_1_1',
    ])
  })

  test('no choice at all', () => {
    const reply = messagesReply({ choices: [] }, undefined, identity)
    expect(reply).toMatchObject({ content: [], stop_reason: 'end_turn' })
  })
})

describe('usage', () => {
  const cases: [JsonObject | undefined, JsonObject][] = [
    [undefined, { input_tokens: 0, output_tokens: 0 }],
    [
      { prompt_tokens: 5, completion_tokens: 2 },
      { input_tokens: 5, output_tokens: 2 },
    ],
    [
      { prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 0 } },
      { input_tokens: 5, output_tokens: 2, cache_read_input_tokens: 0 },
    ],
  ]
  test.each(cases)('%j', (usage, expected) => {
    expect(replyTo({ content: 'x' }, usage === undefined ? {} : { usage }).usage).toEqual(expected)
  })
})

describe('an error', () => {
  test('of the gateway', () => {
    const error = new GatewayError('upstream_http_error', 'too fast', {
      status: 429,
      details: { upstream_status: 429 },
    })
    expect(messagesError(callError(error), 'r').body).toEqual({
      type: 'error',
      error: {
        type: 'rate_limit_error',
        message: 'too fast',
        code: 'upstream_http_error',
        gateway_code: 'upstream_http_error',
        upstream_status: 429,
      },
      request_id: 'r',
    })
  })
  test('within a stream is an error event', () => {
    const text = messagesError({ code: 'x', message: 'no\n' }, 'r').event
    const [name, data] = text.split('\n')
    expect(name).toBe('event: error')
    expect(text).toEndWith('\n\n')
    const body: unknown = JSON.parse((data ?? '').slice('data: '.length))
    expect(isJsonObject(body) && body).toEqual({
      type: 'error',
      error: { type: 'api_error', message: 'no\n', code: 'x' },
      request_id: 'r',
    })
  })
})
