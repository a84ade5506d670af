import { expect, test } from 'bun:test'
import type { JsonObject } from '../plugin/json.ts'
import { type ParamPolicy, readParams } from './chat-params.ts'

const mapped = new Set(['model', 'messages', 'temperature', 'tools', 'tool_choice'])

function read(body: JsonObject, unsupported?: ParamPolicy['unsupported']) {
  const dropped: string[] = []
  const params = readParams(body, mapped, {
    unsupported,
    dropped: (name) => void dropped.push(name),
  })
  return { params, dropped }
}

test('a member with its neutral value is ignored, mapped or not', () => {
  const neutral: JsonObject = {
    n: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    parallel_tool_calls: true,
    response_format: { type: 'text' },
    stream: false,
    logprobs: false,
    top_logprobs: 0,
    logit_bias: {},
    stop: [],
    tools: [],
    tool_choice: 'none',
    modalities: ['text'],
    service_tier: 'auto',
    metadata: {},
    user: '',
    functions: null,
    web_search_options: null,
  }
  expect(read(neutral, 'reject')).toEqual({ params: {}, dropped: [] })
})

test('members that only save cost or label calls, and unknown ones, are dropped and reported', () => {
  const body = {
    model: 'm',
    store: true,
    prompt_cache_key: 'k',
    seed: 7,
    'never-heard-of': { a: 1 },
  }
  expect(read(body)).toEqual({
    params: { model: 'm' },
    dropped: ['store', 'prompt_cache_key', 'seed', 'never-heard-of'],
  })
  expect(() => read(body, 'reject')).toThrow('store is not supported by this route')
})

test.each([
  ['n', 2],
  ['logprobs', true],
  ['response_format', { type: 'json_object' }],
  ['parallel_tool_calls', false],
  ['web_search_options', {}],
  ['frequency_penalty', 0.5],
])('members that change the answer are refused, or dropped by the route: %s', (name, value) => {
  expect(() => read({ [name]: value })).toThrow(`${name} is not supported by this route`)
  expect(read({ [name]: value }, 'drop').dropped).toEqual([name])
})

test('a choice among tools that are there is none of the neutral ones', () => {
  const body = { tools: [{ type: 'function' }], tool_choice: 'none' }
  expect(read(body).params).toEqual(body)
})
