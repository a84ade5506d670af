import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { PriceQuery } from 'model-gateway/accounting'
import type { Usage } from 'model-gateway/wire'
import type { SnapshotRow } from './_shared/sheet.ts'
import { buildCatalog, withOverrides } from './catalog.ts'
import { pricedModels, resolvePrice, resolveRates } from './resolve.ts'
import { bundledSnapshot } from './snapshot.ts'

const bundled = buildCatalog(bundledSnapshot)
const now = new Date('2026-10-01T12:00:00Z')

const none: Usage = {
  uncachedInput: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: undefined,
  reasoning: undefined,
  promptTokens: undefined,
  totalTokens: undefined,
}
const million = 1_000_000
const allBuckets = {
  ...none,
  uncachedInput: million,
  cacheRead: million,
  cacheWrite: million,
  output: million,
}

function query(
  provider: string | undefined,
  model: string,
  usage: Partial<Usage> = {},
): PriceQuery {
  const identity = { pricingProviderId: provider, model }
  return {
    identity,
    configVersion: 'v1',
    usage: { ...none, ...usage },
    billingModifiers: [],
    at: now,
  }
}

function cost(provider: string, model: string, usage: Partial<Usage>) {
  const price = resolvePrice(bundled, query(provider, model, usage))
  return price.status === 'unpriced' ? price.reason : price.costPicoUsd
}

const usd = (amount: string) =>
  BigInt(amount.replace('.', '')) * 10n ** BigInt(12 - (amount.split('.')[1]?.length ?? 0))

test('a rate applies from its first day, and not on its end day', () => {
  const day = { input: '1', from: '2026-10-01', until: '2026-10-02' }
  const catalog = buildCatalog({ p: { m: [day] } })
  const at = (iso: string) =>
    resolvePrice(catalog, { ...query('p', 'm', { uncachedInput: 1 }), at: new Date(iso) }).status
  expect(at('2026-09-30T23:59:59.999Z')).toBe('unpriced')
  expect(at('2026-10-01T00:00:00Z')).toBe('priced')
  expect(at('2026-10-01T23:59:59.999Z')).toBe('priced')
  expect(at('2026-10-02T00:00:00Z')).toBe('unpriced')
})

test('cache writes for an hour have a separate price, or none', () => {
  const opus = (hour: number) =>
    cost('anthropic', 'claude-opus-4-5', {
      cacheWrite: million,
      cacheWriteHour: hour,
    })
  const catalog = buildCatalog({ p: { m: [{ cache_write: '1' }] } })
  const unknown = (hour: number) =>
    resolvePrice(catalog, query('p', 'm', { cacheWrite: million, cacheWriteHour: hour }))
  expect(opus(million)).toBe(usd('10'))
  expect(opus(10)).toBe(usd('6.25') - 10n * 6_250_000n + 10n * 10_000_000n)
  expect(unknown(10)).toMatchObject({ reason: 'mixed_cache_write_ttl' })
  expect(unknown(million)).toMatchObject({ reason: 'missing_cache_write_rate' })
})

describe('the bundled price list', () => {
  test.each([
    ['amazon-bedrock', 'global.anthropic.claude-opus-4-7', ['5', '25', '0.5', '6.25']],
    ['amazon-bedrock', 'global.anthropic.claude-opus-5-5', ['4', '20', '0.2', '5']],
    ['amazon-bedrock', 'us.anthropic.claude-opus-4-7', ['5.5', '27.5', '0.55', '6.875']],
    ['anthropic', 'claude-opus-5-5', ['4', '20', '0.2', '5']],
    ['google-vertex-anthropic', 'claude-opus-5-5', ['4', '20', '0.2', '5']],
    ['google-vertex-anthropic', 'claude-haiku-4-5@20251001', ['1', '5', '0.1', '1.25']],
  ])('%s %s', (provider, model, [input, output, read, write]) => {
    expect(cost(provider, model, { uncachedInput: million })).toBe(usd(input ?? ''))
    expect(cost(provider, model, { output: million })).toBe(usd(output ?? ''))
    expect(cost(provider, model, { cacheRead: million })).toBe(usd(read ?? ''))
    expect(cost(provider, model, { cacheWrite: million })).toBe(usd(write ?? ''))
  })

  test.each([
    ['gemini-embedding-2', '0.2'],
    ['gemini-embedding-001', '0.15'],
    ['text-embedding-005', '0.1'],
    ['text-multilingual-embedding-002', '0.1'],
  ])('embedding model %s', (model, price) => {
    expect(cost('google-vertex', model, { uncachedInput: million })).toBe(usd(price))
  })

  test('has the other lists under their ids', () => {
    for (const id of ['openai', 'openrouter', 'mistral', 'groq', 'deepseek', 'x-ai', 'azure']) {
      expect(bundled.get(id)?.size).toBeGreaterThan(3)
    }
    expect(cost('openai', 'gpt-5.4-nano', { uncachedInput: 1 })).toBe(200_000n)
  })
})

describe('a price that depends on the length of the prompt', () => {
  const longest = 200_000
  const sonnet = (usage: Partial<Usage>) => cost('anthropic', 'claude-sonnet-4-5', usage)

  test('applies to the whole prompt', () => {
    const used = { uncachedInput: 1, cacheRead: longest - 3, cacheWrite: 2, output: 1 }
    expect(sonnet({ ...used, promptTokens: longest })).toBe(
      3_000_000n + BigInt(longest - 3) * 300_000n + 2n * 3_750_000n + 15_000_000n,
    )
    expect(sonnet({ ...used, promptTokens: longest + 1 })).toBe(
      6_000_000n + BigInt(longest - 3) * 600_000n + 2n * 7_500_000n + 22_500_000n,
    )
  })

  test('is unknown if the length is', () => {
    expect(sonnet({ output: 1 })).toBe('unsupported_context_tier')
  })

  test('does not change the other prices', () => {
    const long = [
      { above: 10, prices: { input: '3' } },
      { above: 100, prices: { input: '5' } },
    ] as const
    const catalog = buildCatalog({ p: { m: [{ input: '1', output: '2', long }] } })
    const price = (promptTokens: number) =>
      resolvePrice(catalog, query('p', 'm', { uncachedInput: 1, output: 1, promptTokens }))
    expect([10, 11, 100, 101].map(price)).toMatchObject(
      [3, 5, 5, 7].map((cost) => ({ costPicoUsd: BigInt(cost) * 1_000_000n })),
    )
  })
})

describe('a service tier', () => {
  const catalog = buildCatalog({
    p: {
      m: [
        {
          ...{ input: '2', output: '4', web_search: '10' },
          tiers: { flex: { input: '1', output: '2' }, priority: { input: '4' } },
        },
      ],
    },
  })
  const price = (tier: string | undefined, more: Partial<PriceQuery> = {}) => {
    const used = query('p', 'm', { uncachedInput: 1, output: 1, ...(tier && { tier }) })
    const found = resolvePrice(catalog, { ...used, ...more })
    return found.status === 'unpriced' ? found.reason : found.costPicoUsd
  }

  test('is the one in the reply, not in the request', () => {
    const asked = { billingModifiers: ['service_tier'] }
    expect(price('flex')).toBe(3_000_000n)
    expect(price('flex', asked)).toBe(3_000_000n)
    expect(price('default', asked)).toBe(6_000_000n)
    expect(price(undefined)).toBe(6_000_000n)
    expect(price(undefined, asked)).toBe('unsupported_billing_modifier')
    expect(price('flex', { billingModifiers: ['speed'] })).toBe('unsupported_billing_modifier')
  })

  test('is combined with other price modifiers in the reply', () => {
    const catalog = buildCatalog({
      p: { m: [{ input: '2', tiers: { fast: { input: '12' }, flex: { input: '1' } } }] },
    })
    const price = (tier: string | undefined, ...billingModifiers: string[]) => {
      const used = query('p', 'm', { uncachedInput: 1, ...(tier && { tier }) })
      const found = resolvePrice(catalog, { ...used, billingModifiers })
      return found.status === 'unpriced' ? found.reason : found.costPicoUsd
    }
    const none = 'unsupported_billing_modifier'
    expect(price('default+speed=fast', 'speed')).toBe(12_000_000n)
    expect(price('speed=fast', 'speed')).toBe(12_000_000n)
    // The tier that was asked for is not in it.
    expect(price('speed=fast', 'service_tier')).toBe(none)
    expect(price('default', 'speed')).toBe(none)
    expect(price('flex+speed=fast')).toBe(none)
    expect(price('default+inference_geo=us', 'inference_geo')).toBe(none)
    expect(price('default+latency=standard', 'latency', 'service_tier')).toBe(2_000_000n)
    expect(price('flex+latency=standard', 'latency')).toBe(1_000_000n)
    expect(price('default+latency=optimized', 'latency')).toBe(none)
  })

  test('without a price makes a call unpriced, and so does a part of one', () => {
    expect(price('scale')).toBe('unsupported_billing_modifier')
    expect(price('priority')).toBe('missing_output_rate')
  })

  test('has the standard fees per use', () => {
    const usage = { uncachedInput: 1, tier: 'flex', uses: { web_search: 2 } }
    expect(resolvePrice(catalog, query('p', 'm', usage))).toMatchObject({
      costPicoUsd: 1_000_000n + 2n * 10_000_000_000n,
    })
  })
})

test('an hour has its configured tier, unless the reply names one', () => {
  const hours = [
    { tier: 'peak', utc: ['01:00-04:00'], weekdays: [1, 2, 3, 4, 5], except: ['2026-10-01'] },
    { tier: 'night', utc: ['23:00-00:30'] },
  ]
  const tiers = { peak: { input: '2' }, night: { input: '3' }, flex: { input: '4' } }
  const catalog = buildCatalog({ p: { m: [{ input: '1', tiers, hours }] } })
  const price = (at: string, tier?: string) => {
    const used = query('p', 'm', { uncachedInput: 1, ...(tier && { tier }) })
    const found = resolvePrice(catalog, { ...used, at: new Date(at) })
    return found.status === 'unpriced' ? found.reason : Number(found.costPicoUsd) / 1e6
  }
  // A Friday, a Saturday, and a Thursday that is a holiday.
  expect(price('2026-11-27T00:59:59.999Z')).toBe(1)
  expect(price('2026-11-27T01:00:00.000Z')).toBe(2)
  expect(price('2026-11-27T03:59:59.999Z', 'default')).toBe(2)
  expect(price('2026-11-27T04:00:00.000Z')).toBe(1)
  expect(price('2026-11-28T02:00:00.000Z')).toBe(1)
  expect(price('2026-10-01T02:00:00.000Z')).toBe(1)
  expect(price('2026-10-01T23:00:00.000Z')).toBe(3)
  expect(price('2026-10-02T00:29:00.000Z')).toBe(3)
  expect(price('2026-10-02T00:30:00.000Z')).toBe(1)
  expect(price('2026-11-27T02:00:00.000Z', 'flex')).toBe(4)
})

test.each([
  [{ grounding: '35' }, 35_000_000_000n],
  [{ web_search: '14' }, 3n * 14_000_000_000n],
  [{}, 'unsupported_billing_modifier'],
] as const)('a grounded call is priced per call or per search: %j', (prices, expected) => {
  const catalog = buildCatalog({ p: { m: [prices] } })
  const used = query('p', 'm', { uses: { grounding: 1, web_search: 3 } })
  const price = resolvePrice(catalog, used)
  expect(price.status === 'unpriced' ? price.reason : price.costPicoUsd).toBe(expected)
})

const sizes = {
  image: '40',
  tiers: { 'quality=hd': { image: '80' }, 'quality=hd+size=1024x1792': { image: '120' } },
}

test.each([
  ['by the piece', { image: '40' }, { tier: 'quality=hd+size=1x1' }, 80_000_000_000n],
  ['by quality and size', sizes, { tier: 'quality=hd+size=1024x1792' }, 240_000_000_000n],
  ['of another size', sizes, { tier: 'size=1024x1792' }, 'unsupported_billing_modifier'],
  ['without a price', { input: '5' }, {}, 'missing_output_rate'],
  [
    'by their tokens',
    { input: '5', output_image: '40' },
    { uncachedInput: 10, output: 100, parts: { output_image: 100 }, tier: 'size=1024x1024' },
    4_050_000_000n,
  ],
  [
    'by the piece, with tokens counted',
    { image: '40' },
    { uncachedInput: 10, output: 100, parts: { output_image: 100 } },
    80_000_000_000n,
  ],
  [
    'by the piece and the tokens of the prompt',
    { image: '40', input: '5' },
    { uncachedInput: 10, output: 100 },
    80_050_000_000n,
  ],
] as const)('two images %s', (_name, row, used, expected) => {
  const catalog = buildCatalog({ p: { m: [row] } })
  const price = resolvePrice(catalog, query('p', 'm', { ...used, uses: { image: 2 } }))
  expect(price.status === 'unpriced' ? price.reason : price.costPicoUsd).toBe(expected)
})

test('a reranker is priced by searches or tokens, whichever has a price', () => {
  const used = { uncachedInput: 1000, uses: { search_unit: 2 } }
  expect(cost('cohere', 'rerank-v3.5', used)).toBe(usd('0.004'))
  expect(cost('cohere', 'rerank-v5.0-pro', used)).toBe(usd('0.00005'))
  expect(cost('jina', 'jina-reranker-m0', { uncachedInput: 1000 })).toBe(usd('0.00005'))
})

test('a cost is the sum of its items, each with its unit', () => {
  const catalog = buildCatalog({
    p: { m: [{ input: '1', input_audio: '10', output: '2', web_search: '10', request: '5' }] },
  })
  const usage = {
    uncachedInput: 100,
    parts: { input_audio: 30, input_image: 20 },
    output: 7,
    uses: { web_search: 2 },
  }
  const price = resolvePrice(catalog, query('p', 'm', usage))
  if (price.status === 'unpriced') throw new Error(price.reason)
  const item = (unit: string, quantity: number, picoUsdPerUnit: bigint) => ({
    unit,
    quantity,
    picoUsdPerUnit,
  })
  expect(price.items).toEqual([
    item('input_audio', 30, 10_000_000n),
    item('input_image', 20, 1_000_000n),
    item('input', 50, 1_000_000n),
    item('output', 7, 2_000_000n),
    item('web_search', 2, 10_000_000_000n),
    item('request', 1, 5_000_000_000n),
  ])
  const sum = price.items?.reduce(
    (total, { quantity, picoUsdPerUnit }) => total + BigInt(quantity) * picoUsdPerUnit,
    0n,
  )
  expect(price.costPicoUsd).toBe(sum as bigint)
})

describe('reasons', () => {
  const catalog = withOverrides(buildCatalog({}), [
    { pricing_provider_id: 'p', model: 'nothing' },
    {
      pricing_provider_id: 'p',
      model: 'all',
      input_usd_per_million: '1',
      output_usd_per_million: '2',
    },
  ])
  const reason = (q: PriceQuery) => {
    const price = resolvePrice(catalog, q)
    return price.status === 'unpriced' ? price.reason : price.status
  }

  test('the route itself is unpriceable', () => {
    const q = query(undefined, 'all')
    const identity = { ...q.identity, unpriceable: 'unsupported_location' } as const
    expect(reason({ ...q, identity })).toBe('unsupported_location')
  })
  test('no pricing provider', () => {
    expect(reason(query(undefined, 'all'))).toBe('provider_pricing_source_missing')
  })
  test('unknown pricing provider', () => {
    expect(reason(query('q', 'all'))).toBe('unsupported_pricing_provider_id')
  })
  test('billing modifiers', () => {
    expect(reason({ ...query('p', 'all'), billingModifiers: ['service_tier=flex'] })).toBe(
      'unsupported_billing_modifier',
    )
  })
  test('unknown model: look-up is exact', () => {
    expect(reason(query('p', 'ALL'))).toBe('model_not_found')
    expect(reason(query('p', 'all-2025-01-01'))).toBe('model_not_found')
  })
  test.each([
    ['uncachedInput', 'missing_input_rate'],
    ['output', 'missing_output_rate'],
    ['cacheRead', 'missing_cache_read_rate'],
    ['cacheWrite', 'missing_cache_write_rate'],
  ] as const)('a used bucket without a rate is never free: %s', (bucket, expected) => {
    expect(reason(query('p', 'nothing', { [bucket]: 1 }))).toBe(expected)
    expect(reason(query('p', 'nothing', { [bucket]: 0 }))).toBe('priced')
    expect(reason(query('p', 'nothing', { [bucket]: 1, doubt: 'x' }))).toBe(expected)
  })
})

describe('usage other than text', () => {
  const catalog = buildCatalog({
    p: { m: [{ input: '1', output: '2' }], apart: [{ input: '1', output: '2', input_image: '4' }] },
  })
  const resolved = (model: string, more: Partial<Usage>) => {
    const used = { uncachedInput: 3, output: 1, ...more }
    const price = resolvePrice(catalog, query('p', model, used))
    return price.status === 'unpriced' ? price.reason : price.costPicoUsd
  }
  test.each([
    [{ parts: { input_audio: 1 } }, 'missing_input_rate'],
    [{ cacheRead: 2, parts: { cached_audio: 1 } }, 'missing_cache_read_rate'],
    [{ parts: { output_audio: 1 } }, 'missing_output_rate'],
    [{ parts: { output_image: 1 } }, 'missing_output_rate'],
    [{ uses: { web_search: 1 } }, 'unsupported_billing_modifier'],
    [{ uses: { constructor: 1 } }, 'unsupported_billing_modifier'],
  ] as const)('%j is never priced as text: %s', (more, reason) => {
    expect(resolved('m', more)).toBe(reason)
  })
  test('input images cost the same as text, unless they have a price', () => {
    expect(resolved('m', { parts: { input_image: 2 } })).toBe(5_000_000n)
    expect(resolved('apart', { parts: { input_image: 2 } })).toBe(11_000_000n)
    expect(resolved('apart', { parts: { input_video: 2 } })).toBe(5_000_000n)
  })
  test('parts that exceed the whole are doubted', () => {
    const used = query('p', 'apart', { uncachedInput: 3, parts: { input_image: 4 } })
    expect(resolvePrice(catalog, used)).toMatchObject({
      status: 'legacy_estimated',
      costPicoUsd: 12_000_000n,
      doubt: 'impossible_quantity',
    })
  })
  test('a tool with the name of another unit does not get its price', () => {
    const all = buildCatalog({ p: { m: [{ input: '1', request: '5', web_search: '10' }] } })
    for (const name of ['input', 'request', 'output', '__proto__']) {
      const used = query('p', 'm', { uses: Object.fromEntries([[name, 3]]) })
      expect(resolvePrice(all, used)).toMatchObject({ reason: 'unsupported_billing_modifier' })
    }
  })
  test('fetched pages cost only their tokens, unless the list has a fee', () => {
    const list = buildCatalog({ p: { free: [{ input: '1' }], fee: [{ web_fetch: '2' }] } })
    const price = (model: string) =>
      resolvePrice(list, query('p', model, { uses: { web_fetch: 3 } }))
    expect(price('free')).toMatchObject({ status: 'priced', costPicoUsd: 0n })
    expect(price('fee')).toMatchObject({ costPicoUsd: 6_000_000_000n })
  })
  test('a search that is part of each call is included in the price of the call', () => {
    const list = buildCatalog({
      p: { fee: [{ input: '1', request: '25' }], none: [{ input: '1' }] },
    })
    const price = (model: string) =>
      resolvePrice(list, {
        ...query('p', model, { uncachedInput: 1 }),
        billingModifiers: ['web_search_options'],
      })
    expect(price('fee')).toMatchObject({ costPicoUsd: 25_001_000_000n })
    expect(price('none')).toMatchObject({ reason: 'unsupported_billing_modifier' })
    const counted = query('p', 'none', { uses: { web_search: 0 } })
    const asked = { ...counted, billingModifiers: ['web_search_options'] }
    expect(resolvePrice(list, asked)).toMatchObject({ status: 'priced' })
  })
})

describe('the cost stated by the seller', () => {
  const catalog = buildCatalog({ p: { m: [{ input: '1' }] } })
  const bill = (statedUsd: readonly string[], model = 'm', billsStatedCost = true) => {
    const used = query('p', model, { uncachedInput: 3, uses: { web_search: 1 }, tier: 'odd' })
    const usage = { ...used.usage, statedUsd }
    return resolvePrice(catalog, {
      ...used,
      usage,
      identity: { ...used.identity, billsStatedCost },
    })
  }

  test.each([
    ['0.00014', 140_000_000n],
    ['1.4e-4', 140_000_000n],
    ['1721250e-10', 172_125_000n],
    ['19', 19_000_000_000_000n],
    ['0', 0n],
    // The result of float arithmetic.
    ['0.0010550000000000001', 1_055_000_000n],
    ['4.5e-13', 0n],
    ['5e-13', 1n],
  ])('%s USD is the price, of tools and tiers too', (amount, costPicoUsd) => {
    expect(bill([amount])).toEqual({
      status: 'priced',
      costPicoUsd,
      source: 'seller',
      items: [{ unit: 'seller', quantity: 1, picoUsdPerUnit: costPicoUsd }],
    })
  })

  test('is used with the caller’s own key, and needs no list', () => {
    expect(bill(['0.95', '19'], 'unknown')).toMatchObject({ costPicoUsd: 19_950_000_000_000n })
  })

  test('is ignored on a route that does not bill it', () => {
    expect(bill(['1'], 'm', false)).toMatchObject({ reason: 'unsupported_billing_modifier' })
  })

  test.each([['-1'], ['x'], ['undefined'], ['1e400'], ['100001'], ['1e999'], ['']])(
    '%p is invalid: the list is used, and the price is doubted',
    (amount) => {
      const used = query('p', 'm', { uncachedInput: 3, statedUsd: ['1', amount] })
      const identity = { ...used.identity, billsStatedCost: true }
      expect(resolvePrice(catalog, { ...used, identity })).toMatchObject({
        status: 'legacy_estimated',
        costPicoUsd: 3_000_000n,
        doubt: 'stated_cost_unreadable',
      })
    },
  )
})

test('dated rates: the one at the time of the call applies', () => {
  const catalog = buildCatalog({
    p: {
      m: [
        { input: '10', until: '2025-06-10' },
        { input: '2', from: '2025-06-10' },
      ],
    },
  })
  const at = (iso: string) =>
    resolvePrice(catalog, { ...query('p', 'm', { uncachedInput: 1 }), at: new Date(iso) })
  expect(at('2025-06-09T23:59:59.999Z')).toMatchObject({ costPicoUsd: 10_000_000n })
  expect(at('2025-06-10T00:00:00.000Z')).toMatchObject({ costPicoUsd: 2_000_000n })
})

test('an override replaces every bundled rate of its model, and of no other', () => {
  const catalog = withOverrides(bundled, [
    { pricing_provider_id: 'openai', model: 'gpt-5.5', input_usd_per_million: '0.25' },
  ])
  const price = (model: string, usage: Partial<Usage>) =>
    resolvePrice(catalog, query('openai', model, usage))
  expect(price('gpt-5.5', { uncachedInput: 4 })).toMatchObject({
    status: 'priced',
    costPicoUsd: 1_000_000n,
  })
  expect(price('gpt-5.5', { output: 1 })).toMatchObject({ reason: 'missing_output_rate' })
  expect(price('gpt-5.4-nano', { uncachedInput: 1 })).toMatchObject({ costPicoUsd: 200_000n })
  expect(cost('openai', 'gpt-5.5', { uncachedInput: 4, promptTokens: 4 })).toBe(20_000_000n)
})

describe('implausible counts', () => {
  const catalog = withOverrides(buildCatalog({}), [
    {
      pricing_provider_id: 'p',
      model: 'm',
      input_usd_per_million: '1',
      output_usd_per_million: '2',
    },
  ])
  const price = (usage: Partial<Usage>) => resolvePrice(catalog, query('p', 'm', usage))

  test('a doubt makes the price an estimate', () => {
    expect(price({ uncachedInput: 3, doubt: 'cached exceeds input' })).toMatchObject({
      status: 'legacy_estimated',
      costPicoUsd: 3_000_000n,
    })
  })
  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60])('%p is ignored', (count) => {
    expect(price({ uncachedInput: 3, output: count })).toMatchObject({
      status: 'legacy_estimated',
      costPicoUsd: 3_000_000n,
    })
  })
})

test('the cost is the exact sum for any rates and counts', () => {
  const count = fc.option(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), { nil: undefined })
  const micro = fc.integer({ min: 0, max: 10 ** 12 })
  fc.assert(
    fc.property(
      fc.tuple(count, count, count, count),
      fc.tuple(micro, micro, micro, micro),
      (n, r) => {
        // Rates as fractions over 10⁶, written as decimals for the catalog.
        const [input, output, cache_read, cache_write] = r.map((m) => {
          const digits = String(m).padStart(7, '0')
          return `${digits.slice(0, -6)}.${digits.slice(-6)}`
        })
        const row = { input, output, cache_read, cache_write } as SnapshotRow
        const [uncachedInput, out, cacheRead, cacheWrite] = n
        const price = resolvePrice(
          buildCatalog({ p: { m: [row] } }),
          query('p', 'm', { uncachedInput, output: out, cacheRead, cacheWrite }),
        )
        // USD = Σ tokens × (rate / 10⁶) / 10⁶ as one fraction over 10¹², so pico-USD = its numerator.
        const numerator = n.reduce(
          (sum: bigint, tokens, i) => sum + BigInt(tokens ?? 0) * BigInt(r[i] ?? 0),
          0n,
        )
        expect(price).toMatchObject({ status: 'priced', costPicoUsd: numerator })
      },
    ),
  )
})

test('rates have distinct and stable ids', () => {
  const ids = [...bundled.values()].flatMap((models) =>
    [...models.values()].flat().map((r) => r.id),
  )
  expect(new Set(ids).size).toBe(ids.length)
  const again = buildCatalog(bundledSnapshot)
  expect(
    [...again.values()].flatMap((models) => [...models.values()].flat().map((r) => r.id)),
  ).toEqual(ids)
})

test('the rates of a route are those that its calls use', () => {
  const identity = {
    pricingProviderId: 'amazon-bedrock',
    model: 'global.anthropic.claude-opus-4-7',
  }
  const rates = resolveRates(bundled, identity, new Date())
  if (rates.status === 'unpriced') throw new Error('it has a price')
  const { rateId } = resolvePrice(bundled, {
    ...query(identity.pricingProviderId, identity.model, { uncachedInput: 1_000_000 }),
    at: new Date(),
  }) as { rateId: string }
  expect(rates).toMatchObject({ rateId, source: 'snapshot' })
  const { input = '' } = rates.usual.prices
  expect(cost(identity.pricingProviderId, identity.model, { uncachedInput: 1_000_000 })).toBe(
    usd(input),
  )
  expect(resolveRates(bundled, { pricingProviderId: 'openai', model: 'none' }, new Date())).toEqual(
    {
      status: 'unpriced',
      reason: 'model_not_found',
    },
  )
  expect(resolveRates(bundled, { pricingProviderId: undefined, model: 'm' }, new Date())).toEqual({
    status: 'unpriced',
    reason: 'provider_pricing_source_missing',
  })
})

test('every used bucket together', () => {
  expect(cost('amazon-bedrock', 'global.anthropic.claude-opus-4-7', allBuckets)).toBe(usd('36.75'))
})

test('rates include those of longer prompts', () => {
  const identity = { pricingProviderId: 'anthropic', model: 'claude-sonnet-4-5' }
  expect(resolveRates(bundled, identity, now)).toMatchObject({
    usual: {
      prices: { input: '3', cache_write_1h: '6', web_search: '10' },
      longPrompts: [{ aboveTokens: 200_000, prices: { input: '6' } }],
    },
  })
})

test('an override with a * prices models without an exact entry, the longest pattern first', () => {
  const override = (model: string, usd: string) => ({
    pricing_provider_id: 'openai',
    model,
    input_usd_per_million: usd,
  })
  const catalog = withOverrides(bundled, [override('*', '7'), override('gpt-4.1-*', '8')])
  const price = (model: string) => {
    const found = resolvePrice(catalog, query('openai', model, { uncachedInput: million }))
    return found.status === 'unpriced' ? found.reason : found.costPicoUsd / 10n ** 12n
  }
  expect(['new', 'gpt-4.1-new', 'gpt-4.1'].map(price)).toEqual([7n, 8n, 2n])
  const names = pricedModels(catalog, 'openai', now)
  expect([names.includes('gpt-4.1'), names.some((name) => name.includes('*'))]).toEqual([
    true,
    false,
  ])
  expect(pricedModels(catalog, 'unknown', now)).toEqual([])
})
