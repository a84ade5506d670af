import { afterAll, describe, expect, test } from 'bun:test'
import { ConfigError, type JsonObject, type Problem } from 'model-gateway/plugin'
import { apiOrigin, checkProvider, checkRoute } from './config.ts'
import { startVertex } from './testing.ts'

const vertex = await startVertex()
const regional = await startVertex({ location: 'europe-west4' })
afterAll(async () => {
  await vertex.stop()
  await regional.stop()
})

/** Problems as `path: message`, warnings marked. */
function lines(problems: Iterable<Problem>): string[] {
  return [...problems].map(({ path, message, hint, severity }) => {
    expect(hint).toBeString()
    return `${severity === 'warning' ? 'warning ' : ''}${path.join('.')}: ${message}`
  })
}

describe('URLs of models', () => {
  test.each([
    [{}, 'https://aiplatform.googleapis.com'],
    [{ location: 'global' }, 'https://aiplatform.googleapis.com'],
    [{ location: 'europe-west4' }, 'https://europe-west4-aiplatform.googleapis.com'],
    [{ location: 'us' }, 'https://aiplatform.us.rep.googleapis.com'],
    [{ location: 'eu' }, 'https://aiplatform.eu.rep.googleapis.com'],
    [
      { location: 'eu', api_host: 'vertex.p.example.com:8443' },
      'https://vertex.p.example.com:8443',
    ],
    [{ api_host: 'http://127.0.0.1:9000' }, 'http://127.0.0.1:9000'],
  ])('%j: %s', (config, origin) => {
    expect(apiOrigin({ project_id: 'p', ...config })).toBe(origin)
  })

  test('the location is also in the path', async () => {
    const messages = [{ role: 'user', content: 'x' }]
    await regional.run('google/gemini-2.5-flash', { messages }).catch(() => {})
    expect(regional.cloud.calls[0]?.path).toContain('/locations/europe-west4/publishers/google/')
  })
})

test.each([
  [{ project_id: 'p' }, []],
  [{ api_host: 'localhost:9' }, []],
  [{ api_host: 'http://127.0.0.1:9' }, []],
  [{ api_host: 'https://a.b:notaport' }, ['api_host: is not a host']],
  [
    { api_host: 'http://vertex:80' },
    ['warning api_host: is plain http: tokens are sent unencrypted'],
  ],
  [
    { pricing_provider_id: 'google' },
    [
      'warning pricing_provider_id: has no effect: prices are found under google-vertex and google-vertex-anthropic',
    ],
  ],
] as [JsonObject, string[]][])('the provider %j', (provider, expected) => {
  expect(lines(checkProvider(provider))).toEqual(expected)
})

describe('routes', () => {
  const off = (...flags: string[]) => Object.fromEntries(flags.map((flag) => [flag, false]))
  const on = (...flags: string[]) => Object.fromEntries(flags.map((flag) => [flag, true]))
  const problem = (flag: string) =>
    expect.stringMatching(new RegExp(`^capabilities\\.${flag}: is not possible with this model`))
  test.each([
    ...['google/gemini-2.5-flash', 'anthropic/claude-sonnet-4-6', 'google/gemini-embedding-2'].map(
      (model) => [model, {}, []],
    ),
    ['google/gemini-2.5-flash', off('responses', 'embeddings', 'vision', 'stream'), []],
    ['google/gemini-2.5-flash', on('chat_completions', 'vision', 'json_schema'), []],
    [
      'google/gemini-2.5-flash',
      on('responses', 'embeddings'),
      [problem('responses'), problem('embeddings')],
    ],
    ['google/text-embedding-004', on('embeddings'), [problem('embeddings')]],
    ['anthropic/claude-sonnet-4-6', off('responses', 'embeddings', 'vision'), []],
    [
      'anthropic/claude-sonnet-4-6',
      on('responses', 'embeddings', 'vision', 'json_schema'),
      ['responses', 'embeddings', 'vision', 'json_schema'].map(problem),
    ],
    ['google/text-embedding-005', { ...on('embeddings'), ...off('chat_completions') }, []],
    [
      'google/gemini-embedding-2',
      on('chat_completions', 'responses'),
      [problem('chat_completions'), problem('responses')],
    ],
    [
      'google/gemini-2.5-flash',
      off('chat_completions', 'responses', 'embeddings'),
      ['capabilities.chat_completions: is false, but this model only supports chat_completions'],
    ],
    [
      'google/gemini-embedding-001',
      off('chat_completions', 'responses', 'embeddings'),
      ['capabilities.embeddings: is false, but this model only supports embeddings'],
    ],
  ] as [string, JsonObject, string[]][])('%s with %j', (upstream_model, capabilities, expected) => {
    expect(lines(checkRoute({ upstream_model, capabilities }))).toEqual(expected)
  })

  test.each([
    'gemini-2.5-flash',
    'google/',
    '/gemini',
    'meta/llama-4',
    'google/a/b',
    'google/a:predict',
    'google/a?b',
    'google/..',
    'Google/gemini',
    '',
  ])('%p names no model', (upstream_model) => {
    expect(lines(checkRoute({ upstream_model }))).toEqual([
      'upstream_model: is not a model of a supported publisher',
    ])
    expect(() => vertex.bench.bind({ upstreamModel: upstream_model })).toThrow(ConfigError)
  })

  test('a route whose model was removed has no further problem', () => {
    expect(lines(checkRoute({}))).toEqual([])
  })
})

describe('a bound route', () => {
  const families = ['chat_completions', 'responses', 'embeddings'] as const
  const offered = (upstreamModel: string) => {
    const bound = vertex.bench.bind({ upstreamModel })
    return {
      families: families.filter((f) => bound.execute[f] !== undefined),
      supports: bound.supports,
    }
  }
  test('supports the features of its model', () => {
    expect(offered('google/gemini-2.5-flash')).toEqual({
      families: ['chat_completions'],
      supports: ['stream', 'tools', 'vision', 'json_schema'],
    })
    expect(offered('anthropic/claude-opus-5-5')).toEqual({
      families: ['chat_completions'],
      supports: ['stream', 'tools'],
    })
    expect(offered('google/gemini-embedding-2')).toEqual({
      families: ['embeddings'],
      supports: [],
    })
    expect(offered('google/text-embedding-004').families).toEqual(['chat_completions'])
  })

  test('has a price identity', () => {
    const pricing = (own: typeof vertex, upstreamModel: string) =>
      own.bench.bind({ upstreamModel }).pricing
    const claude = {
      pricingProviderId: 'google-vertex-anthropic',
      model: 'claude-opus-4-7@default',
    }
    const gemini = { pricingProviderId: 'google-vertex', model: 'gemini-2.5-flash' }
    expect(pricing(vertex, 'anthropic/claude-opus-4-7@default')).toEqual(claude)
    expect(pricing(vertex, 'google/gemini-2.5-flash')).toEqual(gemini)
    expect(pricing(regional, 'google/gemini-2.5-flash')).toEqual(gemini)
    expect(pricing(regional, 'anthropic/claude-opus-4-7@default')).toEqual({
      ...claude,
      unpriceable: 'unsupported_location',
    })
  })
})
