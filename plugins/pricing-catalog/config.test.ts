import { expect, test } from 'bun:test'
import type { ConfigDraft } from 'model-gateway/host'
import { checkPricing } from './config.ts'

function problems(section: unknown) {
  const draft: ConfigDraft = {
    modelIds: new Set(),
    providerIds: new Set(),
    declared: {},
    section: (name) => (name === 'pricing' ? section : undefined),
  }
  return [...checkPricing(draft)].map(({ path, message }) => `${path.join('.')}: ${message}`)
}

const identity = { pricing_provider_id: 'p', model: 'm' }

test('exact rates, no section and a broken section are accepted', () => {
  expect(problems({ overrides: [{ ...identity, input_usd_per_million: '0.0750000' }] })).toEqual([])
  for (const section of [undefined, 'x', {}, { overrides: 3 }, { overrides: [null] }]) {
    expect(problems(section)).toEqual([])
  }
})

test('each mistake is a problem with its path', () => {
  const overrides = [
    { ...identity, input_usd_per_million: '0.0000001', cache_read_usd_per_million: '1.1234567' },
    identity,
  ]
  expect(problems({ overrides })).toEqual([
    expect.stringMatching(
      /^pricing\.overrides\.0\.input_usd_per_million: 0\.0000001 is finer than/,
    ),
    expect.stringMatching(/^pricing\.overrides\.0\.cache_read_usd_per_million: /),
    expect.stringMatching(/^pricing\.overrides\.1: an override without a rate/),
    expect.stringMatching(/^pricing\.overrides\.1: has the same .* as pricing\.overrides\.0/),
  ])
})

test('hours name a tier of the override', () => {
  const tiers = { peak: { input_usd_per_million: '2' } }
  const override = { ...identity, input_usd_per_million: '1', tiers }
  const hours = (tier: string) => problems({ overrides: [{ ...override, hours: [{ tier }] }] })
  expect(hours('peak')).toEqual([])
  expect(hours('pike')).toEqual([
    'pricing.overrides.0.hours.0.tier: tier pike does not exist in the tiers of this override',
  ])
})
