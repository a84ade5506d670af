import { describe, expect, test } from 'bun:test'
import type { JsonObject, Problem } from 'model-gateway/plugin'
import { checkProvider, checkRoute, profileOf } from './config.ts'
import { type Preset, presets } from './presets.ts'

const openrouter = { base_url: 'https://openrouter.ai/api/v1' }

/** Problems as `path: message`, warnings marked. */
function problems(route: JsonObject, provider: JsonObject = openrouter, preset?: Preset): string[] {
  return [...checkRoute(route, provider, preset)].map(line)
}
function line({ path, message, hint, severity }: Problem): string {
  expect(hint).toBeString()
  return `${severity === 'warning' ? 'warning ' : ''}${path.join('.')}: ${message}`
}
const aggregator = (provider: JsonObject) => ({ compatibility: { aggregator: { provider } } })
const at = 'compatibility.aggregator.provider'

describe('the aggregator block', () => {
  test.each([
    [{ zdr: true }],
    [{ only: ['a', 'b'], ignore: ['c'], order: ['a', 'c', 'd'] }],
    [{ preferred_max_latency: 0.5, max_price: { prompt: 0 } }],
    [{ preferred_max_latency: { p99: 3 } }],
  ])('%j is right', (provider) => {
    expect(problems(aggregator(provider as JsonObject))).toEqual([])
  })

  test.each([
    [{}, [`${at}: is empty`]],
    [{ only: [] }, [`${at}.only: is empty`]],
    [{ ignore: ['a', ' '] }, [`${at}.ignore.1: is empty`]],
    [{ order: ['a', 'b', ' a '] }, [`${at}.order.2: repeats a`]],
    [
      { only: ['a', 'b'], ignore: ['x', 'b ', 'a'] },
      [`${at}.ignore.1: b is also in only`, `${at}.ignore.2: a is also in only`],
    ],
    [{ preferred_max_latency: 0 }, [`${at}.preferred_max_latency: must be above 0`]],
    [
      { preferred_max_latency: Number.POSITIVE_INFINITY },
      [`${at}.preferred_max_latency: must be above 0`],
    ],
    [{ preferred_max_latency: {} }, [`${at}.preferred_max_latency: is empty`]],
    [
      { preferred_max_latency: { p50: 1, p99: -1 } },
      [`${at}.preferred_max_latency.p99: must be above 0`],
    ],
    [{ max_price: {} }, [`${at}.max_price: is empty`]],
    [
      { max_price: { prompt: -0.1, image: Number.NaN } },
      [`${at}.max_price.prompt: must not be below 0`, `${at}.max_price.image: must not be below 0`],
    ],
  ] as [JsonObject, string[]][])('%j is wrong', (provider, expected) => {
    expect(problems(aggregator(provider))).toEqual(expected)
  })

  test('several mistakes are several problems', () => {
    const provider = { only: ['a', 'a'], max_price: {}, preferred_max_latency: -1 }
    const route = { compatibility: { aggregator: { provider } }, extra_body: { provider: null } }
    expect(problems(route, { base_url: 'https://other.example/v1' })).toEqual([
      'compatibility.aggregator: works only with a provider whose base_url is https://openrouter.ai/…',
      'extra_body.provider: would override compatibility.aggregator',
      'compatibility.aggregator.provider.only.1: repeats a',
      'compatibility.aggregator.provider.preferred_max_latency: must be above 0',
      'compatibility.aggregator.provider.max_price: is empty',
    ])
  })

  test.each([
    'http://openrouter.ai/api/v1',
    'https://openrouter.ai.example.com/v1',
    'https://api.openrouter.ai/v1',
    'https://openrouter.ai:8443/v1',
    'not a url',
  ])('it has no place on %s', (base_url) => {
    expect(problems(aggregator({ zdr: true }), { base_url })).toHaveLength(1)
  })

  test('a config with removed parts is checked by the rest', () => {
    expect(problems({})).toEqual([])
    expect(problems({ compatibility: { aggregator: {} } }, {})).toEqual([])
    expect(problems(aggregator({ zdr: true }), {})).toEqual([])
  })
})

describe('a priced route that streams chat without asking for usage', () => {
  const priced = { ...openrouter, pricing_provider_id: 'openrouter' }
  const warning =
    'warning compatibility.generic_compat.supports_stream_usage: is false on a priced route that streams chat: its streams may go unmetered'

  test('is a warning', () => {
    expect(problems({}, priced)).toEqual([warning])
    const off = { compatibility: { generic_compat: { supports_stream_usage: false } } }
    expect(problems(off, priced)).toEqual([warning])
  })

  test.each([
    [{ compatibility: { generic_compat: { supports_stream_usage: true } } }],
    [{ capabilities: { stream: false } }],
    [{ capabilities: { chat_completions: false } }],
    [{ enabled: false }],
  ])('is none for %j', (route) => {
    expect(problems(route, priced)).toEqual([])
  })
})

test('an extra_body that selects other models is a warning on a priced route', () => {
  const compatibility = { generic_compat: { supports_stream_usage: true } }
  const route = { compatibility, extra_body: { Fallbacks: ['dear'], models: [], plugins: null } }
  const priced = { ...openrouter, pricing_provider_id: 'openrouter' }
  expect(problems(route, priced)).toEqual([
    'warning extra_body.Fallbacks: can select another model, which would be billed at the price of upstream_model',
  ])
  expect(problems(route, openrouter)).toEqual([])
})

test.each([
  [{ base_url: 'https://h/v1' }, []],
  [{}, []],
  [{ base_url: 'http://' }, ['base_url: is not a URL']],
  [{ base_url: 'https://u:p@h/v1' }, ['base_url: carries credentials']],
  [{ base_url: 'https://h/v1?a=b' }, ['base_url: has a query or a fragment']],
  [{ base_url: 'https://h/v1#a' }, ['base_url: has a query or a fragment']],
  [
    { base_url: 'https://h/v1/chat/completions' },
    ['warning base_url: ends with the path of a call, which the gateway appends'],
  ],
  [
    { base_url: 'https://h/v1/embeddings/' },
    ['warning base_url: ends with the path of a call, which the gateway appends'],
  ],
])('the provider %j', (provider, expected) => {
  expect([...checkProvider(provider)].map(line)).toEqual(expected)
})

describe('a preset', () => {
  const preset = (type: string) => presets.find((each) => each.type === type) as Preset
  const check = (type: string, provider: JsonObject) => [...checkProvider(provider, preset(type))]

  test('without a key names the variable, unless it needs none', () => {
    expect(check('groq', {})).toEqual([
      { path: ['api_key'], message: 'is required', hint: 'set api_key: env.GROQ_API_KEY' },
    ])
    for (const stated of [{ api_key: 'env.K' }, { auth: { mode: 'none' } }]) {
      expect(check('groq', stated)).toEqual([])
    }
    expect(check('ollama', {})).toEqual([])
  })

  test('has one key, and a valid base URL', () => {
    const both = { api_key: 'env.K', auth: { mode: 'none' }, base_url: 'https://h/v1?a' }
    expect(check('vllm', both).map(line)).toEqual([
      'base_url: has a query or a fragment',
      'api_key: conflicts with auth',
    ])
  })

  test('sets base URL, prices and profile for route checks, and the config overrides it', () => {
    const route = { upstream_model: 'm', ...aggregator({ zdr: true }) }
    expect(problems(route, {}, preset('openrouter'))).toEqual([])
    expect(problems(route, {}, preset('groq'))).toHaveLength(1)
    expect(problems(route, { base_url: 'https://h/v1' }, preset('openrouter'))).toHaveLength(1)
    expect(problems({ extra_body: { models: ['x'] } }, {}, preset('groq'))).toHaveLength(1)
    const off = { compatibility: { generic_compat: { supports_stream_usage: false } } }
    expect(problems(off, {}, preset('groq'))).toHaveLength(1)
  })

  test('has the profile of its vendor, and the route can override each field', () => {
    const { profile } = preset('mistral')
    const own = { max_tokens_field: 'max_completion_tokens' } as const
    expect(profileOf(own, 'm', preset('mistral'))).toEqual({
      ...profile,
      ...own,
      upstream_api: 'chat',
    })
    expect(profileOf({}, 'gpt-6-luna', preset('openai')).upstream_api).toBe('responses')
    expect(profileOf({ upstream_api: 'chat' }, 'gpt-6-luna', preset('openai')).upstream_api).toBe(
      'chat',
    )
  })
})
