import { afterAll, describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { pino } from 'pino'
import { createTokenCounter } from '../../_shared/token-counter.ts'
import { estimateTokens } from './estimate.ts'

const counter = createTokenCounter({ log: pino({ enabled: false }) })
afterAll(() => counter.close())

const user = (content: JsonValue) => ({ role: 'user', content })
const ask = (content: JsonValue, more: JsonObject = {}) => ({ messages: [user(content)], ...more })
const estimate = (request: JsonObject, model = 'gpt-5') => estimateTokens(request, model, counter)

const weather = {
  name: 'get_weather',
  description: 'Get the current weather in a given location',
  input_schema: {
    type: 'object',
    properties: {
      location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' },
    },
    required: ['location'],
  },
}
const result = {
  name: 'final_result',
  description: 'The final response which ends this conversation',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' }, country: { type: 'string' } },
    required: ['city', 'country'],
  },
}
const rate = { name: 'get_exchange_rate', description: '', input_schema: { type: 'object' } }
const python = 'Please explain what Python is and its main use cases. '.repeat(100)

describe('recorded counts of the vendor', () => {
  // Examples of https://docs.anthropic.com/en/docs/build-with-claude/token-counting, and recordings of
  // the API and of Bedrock in the tests of pydantic/pydantic-ai.
  const SONNET = 'claude-sonnet-4-5'
  test.each<[number, string, JsonObject]>([
    [14, SONNET, ask('Hello, Claude', { system: 'You are a scientist' })],
    [16, SONNET, ask([{ type: 'text', text: 'What is 2 + 2?' }])],
    [19, SONNET, ask('The quick brown fox jumps over the lazydog.')],
    [1114, SONNET, ask(python, { system: 'You are a helpful assistant.' })],
    [18, SONNET, ask('How many tokens is this sentence?', { system: 'You are helpful.' })],
    [11, SONNET, ask('Hello, world!')],
    [14, 'claude-opus-4-6', ask('What is the capital of France?')],
    [18, 'claude-opus-4-7', ask('What is the capital of France?')],
  ])('%d tokens of text', async (counted, model, request) => {
    const tokens = await estimate(request, model)
    expect(Math.abs(tokens - counted)).toBeLessThanOrEqual(Math.max(2, counted * 0.15))
  })

  /** The overhead of tools differs by 200 tokens between models. */
  test.each<[number, JsonObject]>([
    [403, ask("What's the weather like in San Francisco?", { tools: [weather] })],
    [671, ask('What is the capital of France?', { tools: [result], tool_choice: { type: 'any' } })],
    [
      641,
      {
        messages: [
          user('What is the USD to EUR rate?'),
          {
            role: 'assistant',
            content: [
              {
                type: 'tool_use',
                id: 'search-1',
                name: 'search_tools',
                input: { queries: ['exchange rate'] },
              },
            ],
          },
          user([
            {
              type: 'tool_result',
              tool_use_id: 'search-1',
              content: [{ type: 'tool_reference', tool_name: 'get_exchange_rate' }],
            },
          ]),
        ],
        tools: [rate],
      },
    ],
  ])('%d tokens with tools', async (counted, request) => {
    expect(Math.abs((await estimate(request, 'claude-sonnet-4-6')) - counted)).toBeLessThan(200)
  })
})

describe('counts everything that the model reads', () => {
  const text = 'one two three four five six seven'
  const said: readonly (readonly [name: string, block: JsonObject])[] = [
    ['a text', { type: 'text', text }],
    ['a document', { type: 'document', source: { type: 'text', data: text } }],
    ['the blocks of one', { type: 'document', source: { type: 'content', content: [text] } }],
    ['its title', { type: 'document', title: text, source: { type: 'text', data: '' } }],
    ['a tool result', { type: 'tool_result', tool_use_id: 't', content: text }],
    ['its blocks', { type: 'tool_result', content: [{ type: 'text', text }] }],
    ['a call', { type: 'tool_use', id: 't', name: 'f', input: { text } }],
    ['a server result', { type: 'web_search_tool_result', content: [{ type: 'x', title: text }] }],
    ['one object', { type: 'web_fetch_tool_result', content: { type: 'x', inner: { text } } }],
    ['what is not known', { type: 'kit_unknown', deep: [{ kit_text: text }] }],
  ]
  test.each(said)('%s', async (_, block) => {
    const silent = JSON.parse(JSON.stringify(block).replaceAll(text, '')) as JsonObject
    const more = (await estimate(ask([block]))) - (await estimate(ask([silent])))
    expect(more).toBeGreaterThanOrEqual(6)
    expect(more).toBeLessThanOrEqual(9)
  })

  test('does not count other members', async () => {
    const bare = await estimate(ask([{ type: 'text', text }]))
    const thoughts = [
      { type: 'thinking', thinking: text, signature: 'c2ln'.repeat(500) },
      { type: 'redacted_thinking', data: 'c2ln'.repeat(500) },
      { type: 'text', text, cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]
    expect(await estimate(ask(thoughts))).toBe(bare)
  })

  test('images by their size, also in a tool result', async () => {
    const png = Buffer.alloc(33)
    png.write('\x89PNG', 'latin1')
    png.writeUInt32BE(1000, 16)
    png.writeUInt32BE(750, 20)
    const source = { type: 'base64', media_type: 'image/png', data: png.toString('base64') }
    const image = { type: 'image', source }
    expect(await estimate(ask([image]))).toBe(1007)
    const shown = { type: 'tool_result', tool_use_id: 't', content: [image] }
    expect(await estimate(ask([shown]))).toBe(1037)
  })

  test('accepts odd values in each member', async () => {
    const odd = [null, 7, 'text', [], [[]], {}, { type: 7, content: 7, source: 7, input: [] }]
    for (const value of odd) {
      const blocks = ['image', 'document', 'tool_use', 'tool_result', 'x'].map((type) => ({
        ...{ type, source: value, content: value, input: value, text: value, title: value },
      }))
      const request = { ...ask([...blocks, value]), system: value, tools: [value, { type: value }] }
      const tokens = await estimate({ ...request, output_config: value } as JsonObject)
      expect(Number.isSafeInteger(tokens)).toBe(true)
    }
  })
})

describe('long texts', () => {
  test('of a megabyte are counted in time', async () => {
    await estimate(ask('the thread has started'))
    const texts = {
      prose: python.repeat(200).slice(0, 1_000_000),
      a: 'a'.repeat(1_000_000),
      emoji: '👨‍👩‍👧‍👦'.repeat(90_000),
      spaces: ' '.repeat(1_000_000),
      chinese: '河流流向大海。'.repeat(50_000),
    }
    const times: Record<string, number> = {}
    for (const [name, text] of Object.entries(texts)) {
      const before = performance.now()
      expect(await estimate(ask(text))).toBeGreaterThan(5_000)
      times[name] = performance.now() - before
    }
    // Each takes a tenth of that on an idle machine, but the one without words.
    expect(Object.entries(times).filter(([, ms]) => ms > 3_000)).toEqual([])
  }, 20_000)

  test('are sampled from end to end', async () => {
    const half = python.repeat(60)
    const exact = (await estimate(ask(half))) - 7
    const long = half + 'a'.repeat(half.length)
    const tokens = (await estimate(ask(long))) - 7
    const whole = exact + half.length / 8
    expect(Math.abs(tokens - whole)).toBeLessThan(whole * 0.02)
  })

  test('do not delay other calls', async () => {
    let longest = 0
    let last = performance.now()
    const beat = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 1)
    await estimate(ask('河流流向大海。'.repeat(50_000)))
    clearInterval(beat)
    expect(longest).toBeLessThan(150)
  })
})
