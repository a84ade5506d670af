import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { PricingSource } from 'model-gateway/accounting'
import type { ConfigSnapshot, SnapshotListener } from 'model-gateway/host'
import pino from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { noTelemetry } from '../../test/harness/telemetry.ts'
import plugin from './index.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

let versions = 0

function snapshot(overrides: unknown[]): ConfigSnapshot {
  const section = () => ({ overrides }) as never
  return { version: `v${++versions}`, models: new Map(), providers: new Map(), section }
}

test('prices with the accepted config; a catalog that cannot be stored changes nothing', async () => {
  const provided = new Map<string, unknown>()
  const migrations = plugin.manifest.migrations ?? []
  const capability = await database.forPlugin('plugin.pricing-catalog', migrations)
  await plugin.setup({
    config: {},
    uses: {},
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    ...noTelemetry,
    provide: (point, implementation) => provided.set(point.name, implementation),
    database: capability,
    clock: { now: () => new Date() },
  })
  const source = provided.get('pricing_source') as PricingSource
  const listener = provided.get('snapshot_listeners') as SnapshotListener
  const price = (configVersion = `v${versions}`) =>
    source.resolve({
      configVersion,
      identity: { pricingProviderId: 'mine', model: 'm' },
      usage: {
        uncachedInput: 3,
        cacheRead: undefined,
        cacheWrite: undefined,
        output: undefined,
        reasoning: undefined,
        promptTokens: 3,
        totalTokens: 3,
      },
      billingModifiers: [],
      at: new Date(),
    })
  const accept = async (config: ConfigSnapshot) => {
    const putIntoForce = await listener.prepare(config)
    putIntoForce()
  }
  const mine = { pricing_provider_id: 'mine', model: 'm' }
  await accept(snapshot([]))
  expect(price()).toMatchObject({ reason: 'unsupported_pricing_provider_id' })
  await accept(snapshot([{ ...mine, input_usd_per_million: '0.5' }]))
  expect(price()).toMatchObject({ status: 'priced', costPicoUsd: 1_500_000n })

  await database.sql`alter table pricing_catalog.catalog_state rename to gone`
  const dearer = snapshot([{ ...mine, input_usd_per_million: '7' }])
  await expect(listener.prepare(dearer)).rejects.toThrow('catalog_state')
  expect(price()).toMatchObject({ costPicoUsd: 1_500_000n })
  await database.sql`alter table pricing_catalog.gone rename to catalog_state`
  await accept(snapshot([]))
  expect(price()).toMatchObject({ reason: 'unsupported_pricing_provider_id' })
  // A call that began with another config is priced by that one.
  expect(price('v2')).toMatchObject({ costPicoUsd: 1_500_000n })
})
