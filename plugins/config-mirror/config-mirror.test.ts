import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type ConfigSnapshot,
  type ModelSpec,
  type SnapshotListener,
  snapshotListeners,
} from 'model-gateway/host'
import type { Database, ExtensionPoint } from 'model-gateway/plugin'
import type { RouteSpec } from 'model-gateway/provider'
import pino from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { noTelemetry } from '../../test/harness/telemetry.ts'
import plugin from './index.ts'

let testDatabase: TestDatabase
let database: Database
beforeEach(async () => {
  testDatabase = await createTestDatabase()
  database = await testDatabase.forPlugin(plugin.manifest.id, plugin.manifest.migrations ?? [])
})
afterEach(() => testDatabase.drop())

/** The services that the plugin provides at set-up. */
async function listener(): Promise<SnapshotListener> {
  let registered: unknown
  await plugin.setup({
    config: {},
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    ...noTelemetry,
    provide: <T>(point: ExtensionPoint<T>, implementation: T) => {
      if (point.name === snapshotListeners.name) registered = implementation
    },
    database,
    clock: { now: () => new Date() },
    uses: { prices: () => undefined },
  })
  return registered as SnapshotListener
}

const capabilities = {
  chat_completions: true,
  responses: true,
  embeddings: false,
  stream: true,
  tools: true,
  vision: true,
  json_schema: true,
}

function route(model: string, provider: string, changes: Partial<RouteSpec> = {}): RouteSpec {
  return {
    id: `${model}/${provider}/up`,
    model,
    provider,
    upstreamModel: 'up',
    priority: 100,
    weight: 1,
    enabled: true,
    capabilities,
    extraHeaders: {},
    extraBody: {},
    compatibility: {},
    ...changes,
  }
}

function model(
  id: string,
  routes: readonly RouteSpec[],
  changes: Partial<ModelSpec> = {},
): ModelSpec {
  return {
    id,
    description: undefined,
    tags: [],
    rank: 100,
    aliasOf: undefined,
    allowlist: undefined,
    routes,
    ...changes,
  }
}

function snapshot(version: string, ...models: readonly ModelSpec[]): ConfigSnapshot {
  return {
    version,
    models: new Map(models.map((entry) => [entry.id, entry])),
    providers: new Map(),
    section: () => {
      throw new Error('the mirror reads no section')
    },
  }
}

const readModels = async () => [
  ...(await testDatabase.sql`select * from config_mirror.gateway_models order by model_key`),
]
const readRoutes = async () => [
  ...(await testDatabase.sql`select * from config_mirror.model_routes order by route_key`),
]
/** Changes when a row is written or locked. */
const rowStates = async () => [
  ...(await testDatabase.sql`
    select model_key as key, xmin::text, xmax::text, ctid::text from config_mirror.gateway_models
    union all
    select route_key, xmin::text, xmax::text, ctid::text from config_mirror.model_routes
    order by 1`),
]

describe('config mirror', () => {
  test('models and routes are there with everything but secrets', async () => {
    const { prepare } = await listener()
    const compatibility = { supports_store: false, aggregator: { only: ['a', 'b'], n: 1.5 } }
    await prepare(
      snapshot(
        'v1',
        model(
          'fast',
          [
            route('fast', 'main', {
              priority: 5,
              weight: 0.25,
              enabled: false,
              extraHeaders: { 'x-tenant': 'top-secret' },
              extraBody: { api_key: 'top-secret' },
              compatibility,
            }),
          ],
          {
            description: 'Quick',
            tags: ['small', 'eu'],
            rank: 7,
            allowlist: { users: ['ada@example.test'], teams: [] },
          },
        ),
        model('alias', [], { aliasOf: 'fast' }),
      ),
    )
    const [alias, fast] = await readModels()
    expect(fast).toMatchObject({
      model_key: 'fast',
      description: 'Quick',
      tags: ['small', 'eu'],
      rank: 7n,
      alias_of: null,
      allowlist_json: { users: ['ada@example.test'], teams: [] },
      active: true,
      config_version: 'v1',
    })
    expect(alias).toMatchObject({ alias_of: 'fast', description: null, allowlist_json: null })
    const routes = await readRoutes()
    expect(routes).toMatchObject([
      {
        route_key: 'fast/main/up',
        model_id: fast?.id,
        provider_key: 'main',
        upstream_model: 'up',
        priority: 5n,
        weight: 0.25,
        enabled: false,
        extra_header_names: ['x-tenant'],
        active: true,
        config_version: 'v1',
      },
    ])
    expect(routes[0]?.capabilities_json).toEqual(capabilities)
    expect(routes[0]?.compatibility_json).toEqual(compatibility)
    expect(Bun.inspect([...(await readModels()), ...routes])).not.toContain('top-secret')
  })

  test('the same config again touches no row', async () => {
    const { prepare } = await listener()
    const config = () =>
      snapshot(
        'v1',
        model('a', [route('a', 'p'), route('a', 'q')]),
        model('b', [], { aliasOf: 'a' }),
      )
    await prepare(config())
    const before = await rowStates()
    expect(before).toHaveLength(4)
    await prepare(config())
    expect(await rowStates()).toEqual(before)
  })

  test('ids stay, changes arrive, what leaves is inactive and comes back as the same row', async () => {
    const { prepare } = await listener()
    await prepare(snapshot('v1', model('a', [route('a', 'p'), route('a', 'q')]), model('b', [])))
    const first = { models: await readModels(), routes: await readRoutes() }

    const changed = route('a', 'p', { weight: 3, compatibility: { supports_store: true } })
    await prepare(snapshot('v2', model('a', [changed], { description: 'new' })))
    const [a, b] = await readModels()
    expect(a).toMatchObject({ id: first.models[0]?.id, description: 'new', config_version: 'v2' })
    expect(b).toMatchObject({ id: first.models[1]?.id, active: false, config_version: 'v1' })
    const [p, q] = await readRoutes()
    expect(p).toMatchObject({ id: first.routes[0]?.id, weight: 3, active: true })
    expect(p?.compatibility_json).toEqual({ supports_store: true })
    expect(q).toMatchObject({ id: first.routes[1]?.id, active: false, config_version: 'v1' })

    await prepare(snapshot('v3', model('a', [route('a', 'p'), route('a', 'q')]), model('b', [])))
    const last = { models: await readModels(), routes: await readRoutes() }
    expect(last.models.map((row) => row.id)).toEqual(first.models.map((row) => row.id))
    expect(last.routes.map((row) => row.id)).toEqual(first.routes.map((row) => row.id))
    expect([...last.models, ...last.routes].every((row) => row.active)).toBe(true)
    expect([...last.models, ...last.routes].every((row) => row.config_version === 'v3')).toBe(true)
  })

  test('a load that fails leaves the last one in place', async () => {
    const { prepare } = await listener()
    await prepare(snapshot('v1', model('a', [route('a', 'p')])))
    const broken = route('b', 'p', { compatibility: { bad: 'nul \0 nul' } })
    await expect(
      prepare(snapshot('v2', model('a', [route('a', 'p')]), model('b', [broken]))),
    ).rejects.toThrow()
    expect(await readModels()).toMatchObject([{ model_key: 'a', config_version: 'v1' }])
  })

  test('replicas that load at once agree on the ids', async () => {
    const replicas = await Promise.all([listener(), listener(), listener(), listener()])
    const models = Array.from({ length: 50 }, (_, n) => model(`m${n}`, [route(`m${n}`, 'p')]))
    await Promise.all(replicas.map(({ prepare }) => prepare(snapshot('v1', ...models))))
    expect(await readModels()).toHaveLength(50)
    expect(await readRoutes()).toHaveLength(50)
  })

  test('compatibility_json equals the file for any value', async () => {
    const { prepare } = await listener()
    const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'))
    const anything = fc.dictionary(
      text.filter((key) => key !== '__proto__'),
      fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text)),
    )
    let version = 0
    await fc.assert(
      fc.asyncProperty(anything, async (compatibility) => {
        version += 1
        const entry = route('a', 'p', { compatibility: { ...compatibility } })
        await prepare(snapshot(`v${version}`, model('a', [entry])))
        const [mirrored] = await readRoutes()
        expect(mirrored?.compatibility_json).toEqual({ ...compatibility })
      }),
      { numRuns: 50 },
    )
  })
})
