import { describe, expect, test } from 'bun:test'
import type { JsonObject, Problem } from 'model-gateway/plugin'
import { checkProvider, checkRoute } from './config.ts'

function lines(problems: Iterable<Problem>): string[] {
  return [...problems].map(({ path, message, hint, severity }) => {
    expect(hint).toBeString()
    return `${severity === 'warning' ? 'warning ' : ''}${path.join('.')}: ${message}`
  })
}

test.each([
  [{ base_url: 'https://svc-uc.a.run.app/v1' }, []],
  [{ base_url: 'https://svc-uc.a.run.app/v1', audience: 'https://x' }, []],
  [{}, []],
  [{ base_url: 'http://127.0.0.1:9/v1', audience: 'https://x' }, []],
  [{ base_url: 'http://[::1]:9/v1', audience: 'https://x' }, []],
  [{ base_url: 'http://localhost:9/v1' }, ['audience: is required when base_url is plain http']],
  [
    { base_url: 'http://svc-uc.a.run.app/v1', audience: 'https://x' },
    ['base_url: is not https: the token would be sent unencrypted'],
  ],
  [
    { base_url: 'http://127.0.0.1.example.com/v1', audience: 'https://x' },
    ['base_url: is not https: the token would be sent unencrypted'],
  ],
  [{ base_url: 'https://' }, ['base_url: is not a URL']],
  [{ base_url: 'https://u:p@h/v1' }, ['base_url: carries credentials']],
  [{ base_url: 'https://h/v1?a=b' }, ['base_url: has a query or a fragment']],
] as [JsonObject, string[]][])('the provider %j', (provider, expected) => {
  expect(lines(checkProvider(provider))).toEqual(expected)
})

describe('routes', () => {
  test('streams that may go unmetered are a warning where they have a price', () => {
    const priced = { pricing_provider_id: 'own' }
    expect(lines(checkRoute({}, priced))).toEqual([
      'warning compatibility.generic_compat.supports_stream_usage: is false on a priced route that streams chat: its streams may go unmetered',
    ])
    const metered = { compatibility: { generic_compat: { supports_stream_usage: true } } }
    expect(lines(checkRoute(metered, priced))).toEqual([])
    expect(lines(checkRoute({}, {}))).toEqual([])
  })
})
