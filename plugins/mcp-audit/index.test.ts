import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConfigSnapshot, type SnapshotListener, snapshotListeners } from 'model-gateway/host'
import { type McpAudit, mcpAudit } from 'model-gateway/mcp'
import { type Database, type Disposer, type HealthCheck, healthChecks } from 'model-gateway/plugin'
import pino from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { eventually } from '../../test/harness/gateway.ts'
import { noTelemetry } from '../../test/harness/telemetry.ts'
import { createWriteAhead } from '../_shared/write-ahead.ts'
import plugin from './index.ts'
import { callOf, SESSION } from './replica.fixture.ts'
import { openRow, readRowId } from './rows.ts'
import { sessionHash } from './sessions/sessions.ts'

const DAY_MS = 86_400_000
const OWNER = 'user:ada'
const { id, migrations = [] } = plugin.manifest

let testDatabase: TestDatabase
let database: Database
const root = mkdtempSync(join(tmpdir(), 'mcp-audit-'))
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await testDatabase.forPlugin(id, migrations)
})
afterAll(async () => {
  await testDatabase.drop()
  rmSync(root, { recursive: true, force: true })
})
const running: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of running.splice(0)) await end()
  await testDatabase.sql`truncate mcp_audit.mcp_tool_invocations,
    mcp_audit.mcp_tool_invocation_payloads, mcp_audit.mcp_sessions`
})

/** The plugin as a gateway sets it up. */
async function setUp(files = mkdtempSync(join(root, 'f'))) {
  const provided = new Map<string, unknown>()
  const tasks = new Map<number, () => unknown>()
  const lifeline: { stopped: boolean; unsure?: () => void } = { stopped: false }
  const dispose = await plugin.setup({
    config: { lease_secs: 120 },
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    ...noTelemetry,
    provide: (point, implementation) => provided.set(point.name, implementation),
    database: {
      ...database,
      async listen(channel, heard, unsure): Promise<Disposer> {
        lifeline.unsure = unsure
        const stop = await database.listen(channel, heard, unsure)
        return async () => {
          lifeline.stopped = true
          await stop()
        }
      },
    },
    schedule: { every: (ms, task) => void tasks.set(ms, task) },
    clock: { now: () => new Date() },
    files: { directory: () => files },
    uses: {
      identity: () => {
        throw new Error('nothing is asked for')
      },
      trail: () => undefined,
    },
  })
  let ended: Promise<void> | undefined
  const end = () => {
    ended ??= (async () => void (await dispose?.()))()
    return ended
  }
  running.push(end)
  const listener = provided.get(snapshotListeners.name) as SnapshotListener
  return {
    audit: provided.get(mcpAudit.name) as McpAudit,
    health: provided.get(healthChecks.name) as HealthCheck,
    end,
    lifeline,
    hourly: () => tasks.get(3_600_000)?.(),
    /** A quarter of the lease. */
    often: () => tasks.get(30_000)?.(),
    left: () => readdirSync(files).filter((name) => name.endsWith('.log')),
    async load(retention: string) {
      const sections: Record<string, unknown> = {
        mcp: { audit_retention: retention },
        request_logging: {
          payloads: {
            capture_mode: 'redacted_payloads',
            request_max_bytes: 999,
            response_max_bytes: 999,
            redaction_paths: [],
          },
        },
      }
      const section = (({ name }) => sections[name]) as ConfigSnapshot['section']
      const putIntoForce = await listener.prepare({ section } as ConfigSnapshot)
      putIntoForce()
    },
  }
}

const calls = async () => [
  ...(await database.sql<{ id: string; status: string; payloads: number }[]>`
    select i.id, i.status, count(p)::int as payloads
    from mcp_audit.mcp_tool_invocations i
    left join mcp_audit.mcp_tool_invocation_payloads p on p.invocation_id = i.id
    group by 1, 2 order by 1`),
]
const statuses = async () => (await calls()).map(({ status }) => status)
const eventuallyStatuses = (...expected: string[]) =>
  eventually(async () => ((await statuses()).join() === expected.join() ? true : undefined))
const success = { status: 'success', latencyMs: 1, responseBytes: 9 } as const

/** A row of a dead process, created this many days ago. */
async function oldCall(days: number): Promise<void> {
  const at = Date.now() - days * DAY_MS
  await database.sql`insert into mcp_audit.mcp_tool_invocations
    (id, occurred_at, request_id, owner_kind, api_key_id, server_key, tool_name, held_until)
    values (${Bun.randomUUIDv7('hex', at)}, ${new Date(at)}, 'old', 'user', 'key', 'tools', 'echo',
      now() - interval '1 hour')`
}

test('shutdown writes every call to the database and leaves nothing on the disk', async () => {
  const { audit, end, left, lifeline } = await setUp()
  const over = await audit.open(callOf('1'))
  over.close(success)
  await audit.open(callOf('2'))
  await end()
  expect(await statuses()).toEqual(['success', 'started'])
  expect(left()).toEqual([])
  expect(lifeline.stopped).toBe(true)
})

test('rows of a dead process on the disk are written', async () => {
  const files = mkdtempSync(join(root, 'f'))
  const ahead = createWriteAhead(files, 'mcp-audit')
  await ahead.add(openRow(callOf('1'), new Date(), readRowId('1'), sessionHash('s-1')))
  await ahead.close()
  await setUp(files)
  await eventuallyStatuses('started')
})

test('rows are kept for as long as the config in force says, sessions for a month', async () => {
  const { audit, hourly, load } = await setUp()
  await oldCall(10)
  await oldCall(5)
  await hourly()
  expect(await calls()).toHaveLength(2)
  await load('7d')
  await audit.bind('old', { serverId: 'server', ownershipScopeKey: OWNER })
  await database.sql`update mcp_audit.mcp_sessions set last_used_at = now() - interval '31 days'`
  await audit.bind('new', { serverId: 'server', ownershipScopeKey: OWNER })
  await hourly()
  expect(await calls()).toHaveLength(1)
  expect([...(await database.sql`select 1 as one from mcp_audit.mcp_sessions`)]).toHaveLength(1)
})

test('a call with a live process stays open, and one without becomes incomplete', async () => {
  const { audit, often } = await setUp()
  await oldCall(1)
  await audit.open(callOf('1'))
  await eventuallyStatuses('started', 'started')
  await database.sql`update mcp_audit.mcp_tool_invocations set held_until = now() - interval '1 s'`
  await often()
  expect(await statuses()).toEqual(['incomplete', 'started'])
})

test('payloads are kept as the config in force says', async () => {
  const { audit, load, end } = await setUp()
  const plain = { awaitsVerdict: false }
  const before = await audit.open({ ...callOf('1'), ...plain })
  before.close(success)
  await load('7d')
  const after = await audit.open({ ...callOf('2'), ...plain })
  after.close(success)
  await end()
  expect((await calls()).map(({ payloads }) => payloads)).toEqual([0, 1])
})

test('a session that ends on one replica is over on all, and its calls are', async () => {
  const [one, other] = [await setUp(), await setUp()]
  const { serverId, sessionId } = SESSION
  await one.audit.bind(sessionId, { serverId, ownershipScopeKey: OWNER })
  expect(await other.audit.ownerOf(serverId, sessionId)).toMatchObject({ ownershipScopeKey: OWNER })
  const call = await other.audit.open(callOf('1'))
  call.leave()
  one.audit.unbind(serverId, sessionId)
  await eventually(async () =>
    (await other.audit.ownerOf(serverId, sessionId)) === undefined ? true : undefined,
  )
  await eventuallyStatuses('incomplete')
})

test('cached sessions are queried again when notifications may have been lost', async () => {
  const { audit, lifeline } = await setUp()
  const { serverId, sessionId } = SESSION
  await audit.bind(sessionId, { serverId, ownershipScopeKey: OWNER })
  await database.sql`truncate mcp_audit.mcp_sessions`
  expect(await audit.ownerOf(serverId, sessionId)).toBeDefined()
  lifeline.unsure?.()
  expect(await audit.ownerOf(serverId, sessionId)).toBeUndefined()
})

test('health: degraded while calls wait on the disk for the database', async () => {
  const { audit, health, end } = await setUp()
  expect(health.check()).toEqual({
    status: 'ok',
    details: { queued: 0, shed: 0, spool_depth: 0 },
  })
  await database.sql`alter table mcp_audit.mcp_tool_invocations rename to away`
  try {
    const row = await audit.open(callOf('1'))
    row.close(success)
    await eventually(async () => (health.check().status === 'degraded' ? true : undefined))
  } finally {
    await database.sql`alter table mcp_audit.away rename to mcp_tool_invocations`
  }
  await eventually(async () => (health.check().status === 'ok' ? true : undefined))
  await end()
  expect(await statuses()).toEqual(['success'])
})
