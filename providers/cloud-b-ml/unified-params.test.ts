/** Members of a chat call that Converse has no place for. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { providerCall } from 'model-gateway/testing'
import { unifiedRequest } from './unified-request.ts'

const NOVA = 'amazon.nova-pro-v1:0'
const CLAUDE = 'us.anthropic.claude-sonnet-4-6'
const bare = { messages: [{ role: 'user', content: 'hi' }] }
const tools = [{ type: 'function', function: { name: 'f' } }]

function send(fields: JsonObject, upstreamModel = NOVA, unsupportedParams?: 'drop' | 'reject') {
  const call = providerCall({ model: 'asked', ...bare, ...fields })
  const route = { upstreamModel, extraBody: {}, ...(unsupportedParams && { unsupportedParams }) }
  const { body } = unifiedRequest(route, call)
  return { body, dropped: call.leftOut }
}

const refusal = (message: string) =>
  expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(message) })

test.each<[string, JsonObject]>([
  ['n', { n: 1 }],
  ['penalties', { frequency_penalty: 0, presence_penalty: 0 }],
  ['log probabilities', { logprobs: false, top_logprobs: 0, logit_bias: {} }],
  ['text', { response_format: { type: 'text' }, modalities: ['text'] }],
  ['tools', { tools: [], tool_choice: 'auto', parallel_tool_calls: true }],
  ['stop', { stop: [] }],
  ['empty things', { stop: '', user: '', metadata: {}, store: false }],
])('neutral values say nothing, whatever the route wants: %s', (_, fields) => {
  for (const route of [undefined, 'drop', 'reject'] as const) {
    expect(send(fields, NOVA, route)).toEqual({
      body: { messages: [{ role: 'user', content: [{ text: 'hi' }] }] },
      dropped: [],
    })
  }
})

test('hints are dropped and reported', () => {
  const hints = {
    seed: 7,
    store: true,
    user: 'u',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    safety_identifier: 's',
    service_tier: 'priority',
    verbosity: 'low',
    reasoning_effort: 'low',
    unheard_of: 1,
  }
  const { body, dropped } = send(hints)
  expect(body).toEqual(send({}).body)
  expect(dropped).toEqual(Object.keys(hints))
  expect(() => send({ seed: 7 }, NOVA, 'reject')).toThrow(refusal('seed'))
})

describe('members that change the answer are refused by name, or dropped by the route', () => {
  test.each<[string, JsonObject[keyof JsonObject]]>([
    ['frequency_penalty', 0.5],
    ['presence_penalty', -1],
    ['logit_bias', { 50256: -100 }],
    ['logprobs', true],
    ['top_logprobs', 1],
    ['n', 2],
    ['response_format', { type: 'json_object' }],
    ['modalities', ['text', 'audio']],
    ['audio', { voice: 'alloy', format: 'wav' }],
    ['web_search_options', {}],
    ['functions', [{ name: 'f' }]],
    ['top_k', 4],
  ])('%s', (name, value) => {
    expect(() => send({ [name]: value })).toThrow(refusal(name))
    expect(send({ [name]: value }, NOVA, 'drop')).toEqual({ ...send({}), dropped: [name] })
  })

  test('a ban on parallel calls, in either spelling', () => {
    const ban = { type: 'auto', disable_parallel_tool_use: true }
    for (const fields of [{ parallel_tool_calls: false }, { tool_choice: ban }]) {
      expect(() => send({ tools, ...fields })).toThrow(refusal('parallel_tool_calls'))
      const { body, dropped } = send({ tools, ...fields }, NOVA, 'drop')
      expect(body.toolConfig).toMatchObject({ tools: [{ toolSpec: { name: 'f' } }] })
      expect(dropped).toEqual(['parallel_tool_calls'])
    }
  })
})

test('a tool of another kind is refused by name, or dropped by the route', () => {
  const mixed = { tools: [{ type: 'web_search' }, ...tools] }
  expect(() => send(mixed)).toThrow(refusal('tools.0.type'))
  const { body, dropped } = send(mixed, NOVA, 'drop')
  expect(body.toolConfig).toMatchObject({ tools: [{ toolSpec: { name: 'f' } }] })
  expect(dropped).toEqual(['tools'])
})

describe('members that Claude accepts in addition to Converse', () => {
  test.each<[JsonObject, JsonObject]>([
    [{}, { type: 'auto' }],
    [{ tool_choice: 'required' }, { type: 'any' }],
    [{ tool_choice: { type: 'function', function: { name: 'f' } } }, { type: 'tool', name: 'f' }],
  ])('a ban on parallel calls, as the one choice of the request: %j', (choice, wire) => {
    const { body } = send({ tools, parallel_tool_calls: false, ...choice }, CLAUDE)
    expect(body.additionalModelRequestFields).toEqual({
      tool_choice: { ...wire, disable_parallel_tool_use: true },
    })
    expect(Object.keys(body.toolConfig as JsonObject)).toEqual(['tools'])
  })

  test('top_k, and the caller’s additional fields', () => {
    const additional_model_request_fields = { a: 1 }
    const fields = { top_k: 4, tools, parallel_tool_calls: false, additional_model_request_fields }
    expect(send(fields, CLAUDE).body.additionalModelRequestFields).toMatchObject({
      a: 1,
      top_k: 4,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    })
  })

  test('blank stop sequences are refused, because the service refuses them', () => {
    expect(send({ stop: ['', 'END'] }, CLAUDE).body.inferenceConfig).toEqual({
      stopSequences: ['END'],
    })
    expect(() => send({ stop: ['\n', 'END'] }, CLAUDE)).toThrow(refusal('stop'))
    const { body, dropped } = send({ stop: ['\n', 'END'] }, CLAUDE, 'drop')
    expect([body.inferenceConfig, dropped]).toEqual([{ stopSequences: ['END'] }, ['stop']])
    expect(send({ stop: '\n' }).body.inferenceConfig).toEqual({ stopSequences: ['\n'] })
  })
})

test('a manual budget is not sent after a tool result, because the service refuses it', () => {
  const call = { id: 'a', type: 'function', function: { name: 'f' } }
  const messages = [
    ...bare.messages,
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: 'x' },
  ]
  const budget = { reasoning_budget_tokens: 1024 }
  const thinking = { type: 'enabled', budget_tokens: 1024 }
  expect(send(budget, CLAUDE).body.additionalModelRequestFields).toEqual({ thinking })
  const { body, dropped } = send({ ...budget, messages }, CLAUDE)
  expect([body.additionalModelRequestFields, dropped]).toEqual([undefined, ['thinking']])
  expect(send({ ...budget, messages, top_k: 5 }, CLAUDE).body).toMatchObject({
    additionalModelRequestFields: { top_k: 5 },
  })
})
