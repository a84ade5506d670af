/** `cache_control` of a chat call as cache points of Converse. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { providerCall } from 'model-gateway/testing'
import { unifiedRequest } from './unified-request.ts'

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const NOVA = 'amazon.nova-pro-v1:0'
const cache_control = { type: 'ephemeral' }
const point = { cachePoint: { type: 'default' } }
const text = (text: string, mark?: JsonObject) => ({
  type: 'text',
  text,
  ...(mark && { cache_control: mark }),
})
const tool = (name: string, mark?: JsonObject) => ({
  type: 'function',
  function: { name },
  ...(mark && { cache_control: mark }),
})
const user = (content: JsonValue, more: JsonObject = {}) => ({ role: 'user', content, ...more })

function send(fields: JsonObject, upstreamModel = CLAUDE, unsupportedParams?: 'reject') {
  const call = providerCall({ model: 'asked', messages: [user('hi')], ...fields })
  const route = { upstreamModel, extraBody: {}, ...(unsupportedParams && { unsupportedParams }) }
  return { body: unifiedRequest(route, call).body, dropped: call.leftOut }
}

test('a cache point follows each marked text of the system prompt', () => {
  const content = [text('a'), text('b', cache_control), text('c')]
  const messages = [
    { role: 'system', content },
    { role: 'system', content: 'd', cache_control },
  ]
  expect(send({ messages: [...messages, user('hi')] }).body.system).toEqual([
    { text: 'a\n\nb' },
    point,
    { text: 'c' },
    { text: 'd' },
    point,
  ])
})

test('and after marked parts, calls and results', () => {
  const call = { id: 't', ...tool('f', cache_control) }
  const messages = [
    user([text('a', cache_control), text('b')]),
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 't', content: [text('x', cache_control), text('y')] },
    user('c', { cache_control }),
  ]
  expect(send({ messages }).body.messages).toEqual([
    user([{ text: 'a' }, point, { text: 'b' }]),
    {
      role: 'assistant',
      content: [{ toolUse: { toolUseId: 't', name: 'f', input: {} } }, point],
    },
    user([
      { toolResult: { toolUseId: 't', content: [{ text: 'x' }, { text: 'y' }] } },
      point,
      { text: 'c' },
      point,
    ]),
  ])
})

test('and after marked tools', () => {
  const { body } = send({ tools: [tool('f'), tool('g', cache_control), tool('h')] })
  const { tools } = body.toolConfig as { tools: JsonObject[] }
  expect(tools.map((entry) => Object.keys(entry)[0])).toEqual([
    'toolSpec',
    'toolSpec',
    'cachePoint',
    'toolSpec',
  ])
})

describe('the lifetime', () => {
  const lasting = (ttl: string) => ({ messages: [user([text('a', { type: 'ephemeral', ttl })])] })
  const contentOf = ({ body }: ReturnType<typeof send>) =>
    (body.messages as { content: JsonValue[] }[])[0]?.content

  test.each([
    'us.anthropic.claude-opus-4-5-20251101-v1:0',
    'global.anthropic.claude-sonnet-4-6',
    'anthropic.claude-haiku-4-5-20251001-v1:0',
    'anthropic.claude-opus-5-5',
    'anthropic.claude-fable-5',
  ])('an hour stays one for %s', (model) => {
    const sent = send(lasting('1h'), model)
    expect(contentOf(sent)).toEqual([{ text: 'a' }, { cachePoint: { type: 'default', ttl: '1h' } }])
    expect(sent.dropped).toEqual([])
  })

  test.each([
    NOVA,
    'us.anthropic.claude-sonnet-4-20250514-v1:0',
    'anthropic.claude-opus-4-1-20250805-v1:0',
  ])('an hour is left out and named for %s', (model) => {
    const sent = send(lasting('1h'), model)
    expect(contentOf(sent)).toEqual([{ text: 'a' }, point])
    expect(sent.dropped).toEqual(['messages[].content[].cache_control.ttl'])
  })

  test('five minutes are what a point means without one', () => {
    const sent = send(lasting('5m'), NOVA)
    expect([contentOf(sent), sent.dropped]).toEqual([[{ text: 'a' }, point], []])
  })
})

describe('models', () => {
  const marked = { messages: [user([text('a', cache_control)])] }
  const points = (sent: ReturnType<typeof send>) =>
    JSON.stringify(sent.body).split('"cachePoint"').length - 1

  test.each([
    'meta.llama3-70b-instruct-v1:0',
    'anthropic.claude-3-haiku-20240307-v1:0',
    'us.anthropic.claude-3-5-sonnet-20240620-v1:0',
    'anthropic.claude-v2:1',
    'nvidia.nemotron-super-3-120b',
  ])('without a cache: left out and named for %s', (model) => {
    const sent = send(marked, model)
    expect([points(sent), sent.dropped]).toEqual([0, ['messages[].content[].cache_control']])
    expect(() => send(marked, model, 'reject')).toThrow('cache_control')
  })

  test.each([
    'us.anthropic.claude-3-7-sonnet-20250219-v1:0',
    'us.anthropic.claude-3-5-haiku-20241022-v1:0',
    'us.amazon.nova-2-lite-v1:0',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123',
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1',
  ])('with a cache: %s', (model) => {
    const sent = send(marked, model)
    expect([points(sent), sent.dropped]).toEqual([1, []])
  })

  test('Nova caches no tools', () => {
    const sent = send({ ...marked, tools: [tool('f', cache_control)] }, NOVA)
    expect([points(sent), sent.dropped]).toEqual([1, ['tools[].cache_control']])
  })
})

test('of more than four points the last ones are kept', () => {
  const mark = (name: string) => text(name, cache_control)
  const sent = send({
    tools: [tool('f', cache_control)],
    messages: [
      { role: 'system', content: [mark('a'), mark('b')] },
      user(['c', 'd', 'e'].map(mark)),
    ],
  })
  expect(sent.body.toolConfig).toMatchObject({ tools: [{ toolSpec: { name: 'f' } }] })
  expect(sent.body.system).toEqual([{ text: 'a' }, { text: 'b' }, point])
  expect(sent.body.messages).toEqual([
    user([{ text: 'c' }, point, { text: 'd' }, point, { text: 'e' }, point]),
  ])
  expect(sent.dropped).toEqual(['tools[].cache_control', 'messages[].content[].cache_control'])
})
