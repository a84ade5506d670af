import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Database } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { buildCatalog, withOverrides } from './catalog.ts'
import plugin from './index.ts'
import { resolvePrice } from './resolve.ts'
import { bundledSnapshot } from './snapshot.ts'
import { storeCatalog } from './store.ts'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const migrations = plugin.manifest.migrations ?? []
  database = await testDatabase.forPlugin('plugin.pricing-catalog', migrations)
})
afterAll(() => testDatabase.drop())
beforeEach(async () => {
  await database.sql`truncate pricing_catalog.model_pricing, pricing_catalog.catalog_state`
})

const small = buildCatalog({
  p: {
    dated: [
      { input: '10', until: '2025-06-10' },
      { input: '2', output: '8.5', from: '2025-06-10' },
    ],
    tiered: [
      {
        ...{ input: '1', cache_read: '0', web_search: '10' },
        long: [{ above: 200, prices: { input: '2' } }],
        tiers: { flex: { input: '0.5' } },
      },
    ],
  },
})
const override = { pricing_provider_id: 'p', model: 'dated', input_usd_per_million: '999999999999' }

const rows = async () => [
  ...(await database.sql`
    select *, effective_from::text as since, effective_until::text as until,
      superseded_at is null as current
    from pricing_catalog.model_pricing order by model, effective_from, source`),
]

test('rates are stored as integers with their dates', async () => {
  await storeCatalog(database, small)
  const utc = (date: string) => `${date} 00:00:00+00`
  expect(await rows()).toEqual([
    expect.objectContaining({
      model: 'dated',
      input_pico_usd: 10_000_000n,
      output_pico_usd: null,
      since: '-infinity',
      until: utc('2025-06-10'),
      context_tiers: [],
      prices: { input: '10000000' },
    }),
    expect.objectContaining({
      pricing_provider_id: 'p',
      source: 'snapshot',
      input_pico_usd: 2_000_000n,
      output_pico_usd: 8_500_000n,
      since: utc('2025-06-10'),
      until: 'infinity',
      current: true,
    }),
    expect.objectContaining({
      input_pico_usd: 1_000_000n,
      cache_read_pico_usd: 0n,
      prices: {
        input: '1000000',
        cache_read: '0',
        web_search: '10000000000',
        long: [{ above: 200, input: '2000000' }],
        'tier:flex': { input: '500000' },
      },
    }),
  ])
})

test('a rate that leaves the catalog stays, superseded, until it returns', async () => {
  const current = async () => (await rows()).map((r) => `${r.model} ${r.source} ${r.current}`)
  await storeCatalog(database, small)
  await storeCatalog(database, withOverrides(small, [override]))
  expect(await current()).toEqual([
    'dated override true',
    'dated snapshot false',
    'dated snapshot false',
    'tiered snapshot true',
  ])
  await storeCatalog(database, small)
  expect(await current()).toEqual([
    'dated override false',
    'dated snapshot true',
    'dated snapshot true',
    'tiered snapshot true',
  ])
})

test('an unchanged catalog writes nothing', async () => {
  const state = () => database.sql`
    select updated_at, (select max(xmin::text::bigint) from pricing_catalog.model_pricing) as last
    from pricing_catalog.catalog_state`
  await storeCatalog(database, small)
  const before = await state()
  await storeCatalog(database, buildCatalog({ p: Object.fromEntries([]) }))
  expect(await state()).not.toEqual(before)
  await storeCatalog(database, small)
  const again = await state()
  await storeCatalog(database, small)
  expect(await state()).toEqual(again)
})

test('replicas that start concurrently agree', async () => {
  const catalog = buildCatalog(bundledSnapshot)
  await Promise.all([1, 2, 3].map(() => storeCatalog(database, catalog)))
  const stored = new Set((await rows()).map((r) => r.rate_id))
  const known = [...catalog.values()].flatMap((models) => [...models.values()].flat())
  expect(stored).toEqual(new Set(known.map((rate) => rate.id)))
})

test('a priced call has a rate id of the table', async () => {
  const catalog = buildCatalog(bundledSnapshot)
  await storeCatalog(database, catalog)
  const price = resolvePrice(catalog, {
    identity: { pricingProviderId: 'anthropic', model: 'claude-opus-4-7' },
    usage: {
      uncachedInput: 1,
      cacheRead: 0,
      cacheWrite: undefined,
      output: 1,
      reasoning: undefined,
      promptTokens: 1,
      totalTokens: 2,
    },
    configVersion: 'v1',
    billingModifiers: [],
    at: new Date(),
  })
  if (price.status === 'unpriced') throw new Error(price.reason)
  const [row] = await database.sql`
    select * from pricing_catalog.model_pricing where rate_id = ${price.rateId ?? null}`
  expect(row).toMatchObject({ model: 'claude-opus-4-7', input_pico_usd: 5_000_000n })
})
