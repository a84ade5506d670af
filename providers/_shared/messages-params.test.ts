/** How each member of a chat call is sent to an upstream with the messages API. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { edgeMessages, invokeMessages, rawPredictMessages } from './messages-dialect.ts'
import { messages, refusal, send, tool } from './messages-request.fixture.ts'

const dialects = Object.entries({ rawPredictMessages, invokeMessages, edgeMessages })

/**
 * Every member of `ChatCompletionCreateParams` of the `openai` package (7.57.0), and what of it is
 * sent. `undefined`: nothing, and it is named as dropped. A string: refused, the message begins so.
 */
const EVERY: Readonly<
  Record<string, readonly [value: JsonValue, sent: JsonObject | string | undefined]>
> = {
  audio: [{ voice: 'alloy', format: 'wav' }, 'audio'],
  frequency_penalty: [0.5, 'frequency_penalty'],
  function_call: [{ name: 'f' }, 'function_call'],
  functions: [[{ name: 'f' }], 'functions'],
  logit_bias: [{ 1: 2 }, 'logit_bias'],
  logprobs: [true, 'logprobs'],
  max_completion_tokens: [9, {}],
  max_tokens: [7, { max_tokens: 7 }],
  messages: [messages, {}],
  metadata: [{ team: 'a' }, undefined],
  modalities: [['text', 'audio'], 'modalities'],
  model: ['asked', {}],
  moderation: [{ model: 'm' }, undefined],
  n: [2, 'n'],
  parallel_tool_calls: [false, {}],
  prediction: [{ type: 'content', content: 'x' }, undefined],
  presence_penalty: [1, 'presence_penalty'],
  prompt_cache_key: ['k', undefined],
  prompt_cache_options: [{ a: 1 }, undefined],
  prompt_cache_retention: ['24h', undefined],
  reasoning_effort: ['low', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
  response_format: [{ type: 'json_object' }, 'response_format'],
  safety_identifier: ['s', { metadata: { user_id: 's' } }],
  seed: [7, undefined],
  service_tier: ['flex', undefined],
  stop: [['END'], { stop_sequences: ['END'] }],
  store: [true, undefined],
  stream: [false, {}],
  stream_options: [{ include_usage: true }, {}],
  temperature: [0.5, { temperature: 0.5 }],
  tool_choice: ['auto', {}],
  tools: [[], {}],
  top_logprobs: [3, 'top_logprobs'],
  top_p: [0.5, { top_p: 0.5 }],
  user: ['u', { metadata: { user_id: 'u' } }],
  verbosity: ['low', undefined],
  web_search_options: [{}, 'web_search_options'],
}

/** Members that only Bedrock refuses. */
const REFUSED_BY_STRICT: typeof EVERY = {
  parallel_tool_calls: [false, 'parallel_tool_calls'],
  seed: [7, 'seed'],
}

describe.each(dialects)('%s', (_, dialect) => {
  const every = dialect.strict ? { ...EVERY, ...REFUSED_BY_STRICT } : EVERY
  const plain = send(dialect, {}).body

  test.each(Object.entries(every))('%s', (name, [value, sent]) => {
    const fields = { [name]: value }
    if (typeof sent === 'string') {
      expect(() => send(dialect, fields)).toThrow(refusal(sent))
      const { body, dropped } = send(dialect, fields, { unsupportedParams: 'drop' })
      expect([body, dropped]).toEqual([plain, [name]])
    } else {
      const { body, dropped } = send(dialect, fields)
      expect(body).toEqual({ ...plain, ...sent })
      expect(dropped).toEqual(sent === undefined ? [name] : [])
    }
  })

  test.skipIf(dialect.strict)('a ban on parallel calls goes into the choice of a tool', () => {
    const choose = (tool_choice?: JsonValue) =>
      send(dialect, { tools: [tool], parallel_tool_calls: false, tool_choice: tool_choice ?? null })
        .body
    const ban = { disable_parallel_tool_use: true }
    expect(choose().tool_choice).toEqual({ type: 'auto', ...ban })
    expect(choose('required').tool_choice).toEqual({ type: 'any', ...ban })
    expect(choose()).not.toHaveProperty('parallel_tool_calls')
  })

  test('an id that looks like an e-mail address or phone number is sent as a hash', () => {
    const idOf = (user: string) => (send(dialect, { user }).body.metadata as JsonObject).user_id
    for (const user of ['ann@x.test', '+44 20 7946 0958', 'x'.repeat(257)]) {
      expect(idOf(user)).toMatch(/^user_[\w-]{43}$/)
    }
    expect(idOf('team-7')).toBe('team-7')
  })

  test('an OpenAI-specific tool is refused by name, or dropped by the route', () => {
    const tools = [{ type: 'custom', custom: { name: 'sql' } }, tool]
    expect(() => send(dialect, { tools })).toThrow(refusal('tools.0.type'))
    const { body, dropped } = send(dialect, { tools }, { unsupportedParams: 'drop' })
    expect([body.tools, dropped]).toMatchObject([[{ name: 'weather' }], ['tools']])
  })

  test('blank stop sequences are refused, because the upstream refuses them', () => {
    expect(() => send(dialect, { stop: '\n' })).toThrow(refusal('stop'))
    const { body, dropped } = send(dialect, { stop: ['\n'] }, { unsupportedParams: 'drop' })
    expect([body, dropped]).toEqual([plain, ['stop']])
  })

  test('names of tools that the upstream refuses, in tools, choice and history', () => {
    const name = `tracker.${'x'.repeat(128)}`
    const definition = { type: 'function', function: { name } }
    const call = { id: 'a', ...definition }
    const { body, names } = send(dialect, {
      tools: [definition],
      tool_choice: definition,
      messages: [
        ...messages,
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ],
    })
    const sent = names.sent(name)
    expect(sent).toMatch(/^[a-zA-Z0-9_-]{128}$/)
    expect(body).toMatchObject({
      tools: [{ name: sent }],
      tool_choice: { name: sent },
      messages: [{}, { content: [{ type: 'tool_use', name: sent }] }, {}],
    })
    expect(names.asked(sent)).toBe(name)
  })
})

test('members of the messages API in a chat call', () => {
  const own = {
    mcp_servers: [{}],
    cache_control: { type: 'ephemeral' },
    speed: 'fast',
    system: 'x',
  }
  expect(send(rawPredictMessages, own).body).toMatchObject(own)
  expect(send(rawPredictMessages, { unheard_of: 1 }).dropped).toEqual(['unheard_of'])
})

test('of more than four cache marks the last ones are kept', () => {
  const cache_control = { type: 'ephemeral' }
  const text = (text: string) => ({ type: 'text', text, cache_control })
  const { body, dropped } = send(invokeMessages, {
    tools: [{ ...tool, cache_control }],
    messages: [
      { role: 'system', content: [text('a')] },
      { role: 'user', content: ['b', 'c', 'd', 'e'].map(text) },
    ],
  })
  const marks = JSON.stringify([body.tools, body.system]).split('cache_control').length - 1
  expect([marks, dropped]).toEqual([
    0,
    ['tools[].cache_control', 'messages[].content[].cache_control'],
  ])
  expect(body.messages).toEqual([{ role: 'user', content: ['b', 'c', 'd', 'e'].map(text) }])
})

test('a manual budget is not sent after a tool result, because the upstream refuses it', () => {
  const fields = { reasoning_budget_tokens: 1024, tools: [tool] }
  const history = [
    ...messages,
    { role: 'assistant', tool_calls: [{ id: 'a', ...tool }] },
    { role: 'tool', tool_call_id: 'a', content: 'x' },
  ]
  const thinkingOf = (list: JsonValue[], more: JsonObject = {}) => {
    const { body, dropped } = send(rawPredictMessages, { ...fields, ...more, messages: list })
    return [body.thinking, dropped]
  }
  expect(thinkingOf(messages)).toEqual([{ type: 'enabled', budget_tokens: 1024 }, []])
  expect(thinkingOf(history)).toEqual([undefined, ['thinking']])
  const after = [
    ...history,
    { role: 'assistant', content: 'Rain.' },
    { role: 'user', content: 'So?' },
  ]
  expect(thinkingOf(after)).toEqual([{ type: 'enabled', budget_tokens: 1024 }, []])
  const adaptive = { reasoning_budget_tokens: null, reasoning_effort: 'low' }
  expect(thinkingOf(history, adaptive)).toEqual([{ type: 'adaptive' }, []])
})
