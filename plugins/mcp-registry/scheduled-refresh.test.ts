import { afterAll, beforeAll, expect, test } from 'bun:test'
import { GatewayError } from 'model-gateway/plugin'
import { pino } from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { createDiscoveryStore } from './discovery-store.ts'
import plugin from './index.ts'
import type { Refresher } from './refresh.ts'
import { createScheduledRefresh } from './scheduled-refresh.ts'
import { createServerStore } from './store.ts'

let database: TestDatabase
let store: ReturnType<typeof createDiscoveryStore>
let servers: ReturnType<typeof createServerStore>
let ids: readonly string[]

beforeAll(async () => {
  database = await createTestDatabase()
  const { id, migrations = [] } = plugin.manifest
  const own = await database.forPlugin(id, migrations)
  store = createDiscoveryStore(own, () => ({ write: async () => {} }))
  servers = createServerStore(own)
  for (const [name, status] of [
    ['one', 'active'],
    ['two', 'active'],
    ['off', 'disabled'],
  ] as const) {
    await database.sql`
      insert into mcp_registry.external_mcp_servers (id, server_key, display_name, server_url,
        auth_mode, timeout_ms, status)
      values (${Bun.randomUUIDv7()}, ${name}, ${name}, 'https://a.test/', 'none', 1000, ${status})`
  }
  ids = await servers.listActive()
})
afterAll(() => database?.drop())

const noLog = pino({ level: 'silent' })
let now = new Date('2026-03-01T02:00:00Z')
const clock = { now: () => now }

function replica(refresh: Refresher['refresh'], log = noLog) {
  const { signal } = new AbortController()
  const scheduled = createScheduledRefresh({
    servers,
    store,
    refresher: { refresh },
    clock,
    log,
    signal,
  })
  scheduled.configure('0 3 * * *')
  return scheduled
}

test('the first replica refreshes every active server, once per slot', async () => {
  const refreshed: string[] = []
  const refresh: Refresher['refresh'] = async (id) => {
    refreshed.push(id)
    await Bun.sleep(10)
    if (id === ids[0]) throw new GatewayError('conflict', 'under way')
    return { status: 'auth_required', summary: '' }
  }
  const replicas = [replica(refresh), replica(refresh), replica(refresh)]
  const tick = () => Promise.all(replicas.map((one) => one.tick()))
  await tick()
  expect(refreshed).toEqual([])
  now = new Date('2026-03-01T03:00:05Z')
  await tick()
  await tick()
  expect(refreshed).toEqual([...ids])
  now = new Date('2026-03-02T03:00:05Z')
  await tick()
  expect(refreshed).toEqual([...ids, ...ids])
})

test('a run that is still going keeps the next slot from starting another', async () => {
  const started = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  let calls = 0
  const slow = replica(async () => {
    started.resolve()
    await go.promise
    return { status: 'auth_required', summary: '' }
  })
  const other = replica(async () => {
    calls++
    return { status: 'auth_required', summary: '' }
  })
  now = new Date('2026-03-03T03:00:05Z')
  const running = slow.tick()
  await started.promise
  now = new Date('2026-03-04T03:00:05Z')
  await other.tick()
  expect(calls).toBe(0)
  go.resolve()
  await running
})

test('a run keeps its slot for as long as each server takes, not for one that all take', async () => {
  const ends: number[] = []
  const run = replica(async () => {
    const [row] = await database.sql`select running_until from mcp_registry.discovery_schedule`
    ends.push(row?.running_until.getTime())
    await Bun.sleep(20)
    return { status: 'auth_required', summary: '' }
  })
  now = new Date('2026-03-04T03:00:10Z')
  run.configure('off')
  run.configure('*/2 * * * *')
  now = new Date('2026-03-04T03:02:05Z')
  await run.tick()
  expect(ends).toHaveLength(2)
  expect(ends[1]).toBeGreaterThan(ends[0] as number)
})

test('a refresh that fails unexpectedly is logged, and the next server has its turn', async () => {
  const lines: string[] = []
  const refreshed: string[] = []
  const scheduled = replica(
    async (id) => {
      refreshed.push(id)
      if (id === ids[0]) throw new TypeError('what the upstream said')
      return { status: 'auth_required', summary: '' }
    },
    pino({ level: 'error' }, { write: (line) => void lines.push(line) }),
  )
  now = new Date('2026-03-05T03:00:05Z')
  await scheduled.tick()
  expect(refreshed).toEqual([...ids])
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ server_id: ids[0], error: 'TypeError' }),
  ])
  expect(lines.join()).not.toContain('what the upstream said')
})

test('a schedule that a reload brings holds from then on; one that it leaves as it is loses nothing', async () => {
  const refreshed: string[] = []
  now = new Date('2026-03-06T02:00:00Z')
  const scheduled = replica(async (id) => {
    refreshed.push(id)
    return { status: 'auth_required', summary: '' }
  })
  scheduled.configure('off')
  now = new Date('2026-03-06T12:00:00Z')
  await scheduled.tick()
  scheduled.configure('0 3 * * *')
  await scheduled.tick()
  expect(refreshed).toEqual([])
  now = new Date('2026-03-07T03:00:05Z')
  scheduled.configure('0 3 * * *')
  await scheduled.tick()
  expect(refreshed).toEqual([...ids])
})

test('one replica at a time holds the lease of a server, and a lost one runs out', async () => {
  const [id = ''] = ids
  const first = await store.lease(id, 60_000)
  expect(first).toBeString()
  expect(await store.lease(id, 60_000)).toBeUndefined()
  await store.release(id, Bun.randomUUIDv7())
  expect(await store.lease(id, 60_000)).toBeUndefined()
  await store.release(id, first as string)
  const second = await store.lease(id, -1)
  expect(second).toBeString()
  expect(await store.lease(id, 60_000)).toBeString()
})
