import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { googleRequest } from './google-content-request.ts'
import { refusal } from './refusal.fixture.ts'
import { createToolNames, GOOGLE_NAMES } from './tool-names.ts'

const names = createToolNames(GOOGLE_NAMES)

const user = { role: 'user', content: 'hi' }
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]

const request = (fields: JsonObject) =>
  googleRequest(
    { body: structuredClone({ model: 'asked', ...fields }), stream: false, dropped() {} },
    { upstreamModel: 'gemini-2.5-flash' },
    names,
  )
const messages = (...list: JsonValue[]) => request({ messages: list })
const parts = (content: JsonValue) =>
  ((messages({ role: 'user', content }).contents as JsonObject[])[0] as JsonObject).parts
const call = (id: string, name: string, args?: JsonValue, more = {}) => ({
  id,
  type: 'function',
  function: { name, ...(args === undefined ? {} : { arguments: args }) },
  ...more,
})
const result = (tool_call_id: string, content: JsonValue = 'ok') => ({
  role: 'tool',
  tool_call_id,
  content,
})
const functionCall = (name: string, args = {}) => ({ functionCall: { name, args } })
const functionResponse = (name: string, response: JsonObject) => ({
  functionResponse: { name, response },
})

describe('messages', () => {
  test('system and developer texts are joined by a blank line, the empty ones left out', () => {
    expect(
      messages(
        { role: 'system', content: 'A' },
        user,
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'B' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'system', content: '' },
        { role: 'system', content: null },
      ),
    ).toEqual({ contents, systemInstruction: { parts: [{ text: 'A\n\nB\n\nb' }] } })
  })

  test('a system text between two tool results leaves them in one content', () => {
    const tool_calls = ['a', 'b'].map((id) => ({ id, function: { name: id, arguments: '{}' } }))
    const { contents } = messages(
      user,
      { role: 'assistant', tool_calls },
      { role: 'tool', tool_call_id: 'a', content: '{"n":1}' },
      { role: 'system', content: 'Be brief.' },
      { role: 'tool', tool_call_id: 'b', content: '{"n":2}' },
    )
    expect((contents as JsonObject[])[2]).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { name: 'a', response: { n: 1 } } },
        { functionResponse: { name: 'b', response: { n: 2 } } },
      ],
    })
  })

  test.each<JsonObject>([
    { content: null, refusal: 'I may not.' },
    { content: [{ type: 'refusal', refusal: 'I may not.' }] },
  ])('what an assistant refused before is what it said: %j', (said) => {
    const model = { role: 'model', parts: [{ text: 'I may not.' }] }
    expect(messages(user, { role: 'assistant', ...said })).toEqual({
      contents: [...contents, model],
    })
  })

  test('an empty text next to other parts is left out, because the upstream refuses it', () => {
    const empty = { type: 'text', text: '' }
    expect(
      messages(
        { role: 'user', content: [empty, { type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [empty], tool_calls: [call('a', 'now', '')] },
        result('a'),
      ).contents,
    ).toEqual([
      ...contents,
      { role: 'model', parts: [functionCall('now')] },
      { role: 'user', parts: [functionResponse('now', { output: 'ok' })] },
    ])
  })

  test('a conversation with tools', () => {
    expect(
      messages(
        user,
        {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            call('a', 'weather', '{"city":"Oslo"}', { thought_signature: 'sig/==' }),
            call('b', 'clock', '', { thoughtSignature: 'sig2' }),
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: '{"temp":7}' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: '[1]' }] },
        { role: 'user', content: 'And?' },
        { role: 'assistant', content: null, tool_calls: [call('c', 'clock', undefined)] },
        { role: 'tool', tool_call_id: 'c', content: 'noon' },
        { role: 'assistant', content: '' },
      ).contents,
    ).toEqual([
      ...contents,
      {
        role: 'model',
        parts: [
          { text: 'Let me look.' },
          { ...functionCall('weather', { city: 'Oslo' }), thoughtSignature: 'sig/==' },
          { ...functionCall('clock'), thoughtSignature: 'sig2' },
        ],
      },
      {
        role: 'user',
        parts: [
          functionResponse('weather', { temp: 7 }),
          functionResponse('clock', { output: '[1]' }),
        ],
      },
      { role: 'user', parts: [{ text: 'And?' }] },
      { role: 'model', parts: [functionCall('clock')] },
      { role: 'user', parts: [functionResponse('clock', { output: 'noon' })] },
    ])
  })

  test.each([
    ['no list', () => request({ messages: 'hi' }), 'messages must be a list'],
    ['none', () => messages(), 'messages must have'],
    ['empty ones', () => messages({ role: 'user', content: '' }), 'messages must have'],
    [
      'no object for a call',
      () => messages({ role: 'assistant', tool_calls: [7] }),
      'messages.0.t',
    ],
    ['a role', () => messages({ role: 'function', content: 'x' }), 'messages.0.role: "function"'],
    ['no object', () => messages(user, 'x'), 'messages.1 must be an object'],
    ['content', () => messages({ role: 'user', content: 7 }), 'messages.0.content must be'],
    ['a part', () => parts([{ type: 'text', text: 'a' }, 'b']), 'messages.0.content.1 must be'],
    ['a text', () => parts([{ type: 'text' }]), 'messages.0.content.0.text must be a string'],
    ['a part type', () => parts([{ type: 'hologram' }]), 'messages.0.content.0.type: "hologram"'],
    [
      'an image in a system message',
      () => messages({ role: 'system', content: [{ type: 'image_url', image_url: 'x' }] }, user),
      'messages.0.content.0: only text',
    ],
    [
      'a tool result without an id',
      () => messages(user, { role: 'tool', content: '' }),
      'messages.1.tool_call_id must be',
    ],
    [
      'a call without a name',
      () => messages(user, { role: 'assistant', tool_calls: [{ type: 'function', id: 'a' }] }),
      'messages.1.tool_calls.0.function.name',
    ],
    [
      'a call of another type',
      () => messages(user, { role: 'assistant', tool_calls: [{ type: 'mcp', id: 'a' }] }),
      'messages.1.tool_calls.0.type',
    ],
  ])('refused: %s', (_, run, message) => {
    expect(refusal(run)).toStartWith(message)
  })
})
