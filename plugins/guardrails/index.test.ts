import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import { type Guard, guard } from 'model-gateway/guardrail'
import { type ConfigSnapshot, type SnapshotListener, snapshotListeners } from 'model-gateway/host'
import type { Database } from 'model-gateway/plugin'
import pino from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { eventually } from '../../test/harness/gateway.ts'
import { noTelemetry } from '../../test/harness/telemetry.ts'
import { openSpool } from '../_shared/spool.ts'
import { open, wordCheck } from './__fixtures__/word-check.ts'
import { guardrails } from './config.ts'
import plugin from './index.ts'

const DAY_MS = 86_400_000
const { id, migrations = [] } = plugin.manifest

let testDatabase: TestDatabase
let database: Database
const root = mkdtempSync(join(tmpdir(), 'guardrails-'))
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
  await database.sql`truncate guardrails.guardrail_decisions`
})

/** The plugin, set up as in a gateway, with one kind of managed check. */
async function setUp(files = mkdtempSync(join(root, 'f'))) {
  const provided = new Map<string, unknown>()
  const tasks = new Map<number, () => unknown>()
  const kind = { kind: 'word_list', create: () => wordCheck('DENIED') }
  const dispose = await plugin.setup({
    config: {},
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    ...noTelemetry,
    provide: (point, implementation) => provided.set(point.name, implementation),
    database,
    schedule: { every: (ms, task) => void tasks.set(ms, task) },
    clock: { now: () => new Date() },
    files: { directory: () => files },
    uses: { packs: () => [], kinds: () => [kind], servers: () => undefined },
  })
  let ended: Promise<void> | undefined
  const end = () => {
    ended ??= (async () => void (await dispose?.()))()
    return ended
  }
  running.push(end)
  return {
    end,
    hourly: () => tasks.get(3_600_000)?.(),
    /** Puts a config in force; its global policy. */
    async load(retention: string) {
      const section = Value.Default(guardrails.schema, {
        decisions_retention: retention,
        default: { enabled: true, mode: 'deny', managed_checks: ['words'] },
        managed_checks: {
          words: { kind: 'word_list', phases: ['prompt'], timeout_ms: 5_000, word_list: {} },
        },
      })
      const snapshot = {
        version: 'v1',
        models: new Map(),
        providers: new Map(),
        section: () => section,
      } as unknown as ConfigSnapshot
      const listener = provided.get(snapshotListeners.name) as SnapshotListener
      const putIntoForce = await listener.prepare(snapshot)
      putIntoForce()
      return (await (provided.get(guard.name) as Guard).compile(snapshot)).global
    },
  }
}

const decisions = async () => [
  ...(await database.sql<{ request_id: string; action: string }[]>`
    select request_id, action from guardrails.guardrail_decisions order by id`),
]

/** A spooled decision of this many days ago. */
function record(days: number): string {
  const at = Date.now() - days * DAY_MS
  return JSON.stringify({
    id: Bun.randomUUIDv7('hex', at),
    occurred_at: new Date(at).toISOString(),
    request_id: `${days} days ago`,
    phase: 'prompt',
    scope: 'global',
    mode: 'deny',
    evaluator: 'words',
    action: 'allow',
    reason_code: 'r',
    latency_ms: 1,
    transformation: 'none',
    content_sha256: 'ab'.repeat(32),
    config_version: 'v1',
  })
}

/** A folder with decisions of these ages from a dead process. */
async function leftBehind(...days: number[]): Promise<string> {
  const directory = mkdtempSync(join(root, 'f'))
  const spool = openSpool({ directory, name: 'guardrails', log: pino({ level: 'silent' }) })
  await spool.append(days.map(record))
  await spool.close()
  return directory
}

test('shutdown writes every decision to the database, and disposes all checks', async () => {
  const { load, end } = await setUp()
  const others = open.size
  const policy = await load('30d')
  const segments = ['DENIED']
  await policy?.inspect({ phase: 'prompt', content: { kind: 'text', segments }, requestId: 'r1' })
  expect(open.size).toBe(others + 1)
  await end()
  expect(await decisions()).toMatchObject([{ request_id: 'r1', action: 'deny' }])
  expect(open.size).toBe(others)
})

test('shutdown writes every decision even if a check cannot be disposed', async () => {
  const { load, end } = await setUp()
  const policy = await load('30d')
  for (const made of open) made.dispose = () => Promise.reject(new Error('no socket'))
  const segments = ['DENIED']
  await policy?.inspect({ phase: 'prompt', content: { kind: 'text', segments }, requestId: 'r1' })
  await expect(end()).rejects.toThrow('no socket')
  expect(await decisions()).toMatchObject([{ request_id: 'r1', action: 'deny' }])
  running.length = 0
  open.clear()
})

test('spooled decisions of a dead process are written, and kept for the retention', async () => {
  const files = await leftBehind(40, 20, 5)
  const { load, hourly } = await setUp(files)
  await eventually(async () => ((await decisions()).length === 3 ? true : undefined))
  await eventually(async () =>
    readdirSync(files).some((name) => name.endsWith('.log')) ? undefined : true,
  )
  for (const [retention, left] of [
    ['30d', ['20 days ago', '5 days ago']],
    ['7d', ['5 days ago']],
  ] as const) {
    await load(retention)
    await hourly()
    expect((await decisions()).map(({ request_id }) => request_id)).toEqual([...left])
  }
})
