import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ConfigDraft } from 'model-gateway/host'
import type { Database } from 'model-gateway/plugin'
import { pino } from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { checkRequestLogging } from './config.ts'
import plugin from './index.ts'
import { dayOf } from './partitions.ts'
import { createPurgeCommand } from './purge-command.ts'
import { createPurgeStore } from './purge-store.ts'
import { createPurgeWorker } from './purge-worker.ts'
import type { PurgeSettings } from './retention.ts'
import { createStore } from './store.ts'
import { encodedRow, exchange, noon } from './testing.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const tables = ['request_logs', 'request_log_payloads', 'request_log_tags', 'request_log_attempts']
const ago = (days: number) => new Date(noon.getTime() - days * DAY_MS)

let own: TestDatabase
let database: Database
beforeAll(async () => {
  own = await createTestDatabase()
  database = await own.forPlugin(plugin.manifest.id, plugin.manifest.migrations ?? [])
})
afterAll(() => own.drop())

const tags = { service: 'shop', component: undefined, env: undefined, custom: [] }

/** Empties the log, and writes a row at each of these times. */
async function fill(...times: readonly Date[]): Promise<void> {
  await createPurgeStore(database).purge(new Date(noon.getTime() + 30 * DAY_MS))
  await own.sql`update request_log.retention set kept_since = 'epoch', scheduled_at = null`
  const store = createStore(database)
  await store.ensurePartitions([dayOf(noon.getTime())])
  if (times.length > 0) {
    await store.write(times.map((at) => encodedRow(exchange({ tags }), at.getTime())))
  }
}

/** The number of rows, which must be the same in each table. */
async function rows(): Promise<number> {
  const counts = await Promise.all(
    tables.map(async (table) => {
      const [row] = await own.sql.unsafe<{ n: number }[]>(
        `select count(*)::int as n from request_log.${table}`,
      )
      return row?.n
    }),
  )
  const [first = -1] = counts
  expect(counts).toEqual(tables.map(() => first))
  return first
}

async function partitionNames(): Promise<string[]> {
  const found = await own.sql<{ name: string }[]>`
    select relname as name from pg_class c join pg_namespace n on n.oid = relnamespace
    where nspname = 'request_log' and relkind = 'r' and relname ~ '_p[0-9]{8}$' order by 1`
  return found.map(({ name }) => name)
}

async function kept(): Promise<unknown[]> {
  return [
    ...(await own.sql`select * from request_log.harness_rollups order by 1, 2, 3, 4`),
    ...(await own.sql`select * from request_log.traffic_rollups order by 1, 2, 3, 4`),
  ]
}

describe('the purge', () => {
  test('deletes exactly the rows that a dry run counts, and no roll-up', async () => {
    const cutoff = ago(3)
    await fill(
      ago(9),
      ago(5),
      ago(5),
      new Date(cutoff.getTime() - 11 * HOUR_MS),
      new Date(cutoff.getTime() - 1),
      cutoff,
      new Date(cutoff.getTime() + 1),
      noon,
    )
    const before = await kept()
    const store = createPurgeStore(database)
    expect(await store.count(cutoff)).toBe(5)
    expect(await rows()).toBe(8)
    expect(await store.purge(cutoff)).toBe(5)
    expect(await rows()).toBe(3)
    expect(await store.count(cutoff)).toBe(0)
    expect(await store.purge(cutoff)).toBe(0)
    expect(await kept()).toEqual(before)
    const [{ least } = { least: undefined }] = await own.sql<{ least: Date }[]>`
      select min(occurred_at) as least from request_log.request_logs`
    expect(least).toEqual(cutoff)
  })

  test('drops whole days, and keeps the day of the cutoff', async () => {
    await fill(ago(2), ago(1), noon)
    await createPurgeStore(database).purge(ago(1))
    const names = await partitionNames()
    expect(names.filter((name) => name.startsWith('request_logs_p'))).toEqual([
      'request_logs_p20261120',
      'request_logs_p20261121',
    ])
    expect(names).toHaveLength(8)
  })

  test('drops days that were detached, or partly detached', async () => {
    await fill(ago(3), ago(2), noon)
    await own.sql`
      alter table request_log.request_logs detach partition request_log.request_logs_p20261118`
    // A reader blocks the end of the detachment.
    const reader = await own.sql.reserve()
    await reader`begin`
    await reader`select count(*) from request_log.request_log_tags`
    const impatient = await own.sql.reserve()
    await impatient`set lock_timeout = '50ms'`
    const begun = impatient.unsafe(
      `alter table request_log.request_log_tags
        detach partition request_log.request_log_tags_p20261119 concurrently`,
    )
    await expect(begun.execute()).rejects.toThrow('lock timeout')
    await impatient`set lock_timeout = 0`
    impatient.release()
    await reader`rollback`
    reader.release()

    const store = createPurgeStore(database)
    expect(await store.count(ago(1))).toBe(2)
    expect(await store.purge(ago(1))).toBe(2)
    expect(await rows()).toBe(1)
  })

  test('waits for readers, while rows are written', async () => {
    await fill(ago(2), noon)
    const reader = await own.sql.reserve()
    await reader`begin`
    await reader`select count(*) from request_log.request_logs`
    const limits = { lockTimeoutMs: 30, tries: 100, pauseMs: 20 }
    const purged = createPurgeStore(database, limits).purge(ago(1))
    await Bun.sleep(200)
    await createStore(database).write([encodedRow(exchange({ tags }), noon.getTime())])
    await reader`rollback`
    reader.release()
    expect(await purged).toBe(1)
    expect(await rows()).toBe(2)
  })

  test('gives up if a reader never ends, and the next purge continues', async () => {
    await fill(ago(2), noon)
    const reader = await own.sql.reserve()
    await reader`begin`
    await reader`select count(*) from request_log.request_logs`
    const limits = { lockTimeoutMs: 20, tries: 3, pauseMs: 10 }
    await expect(createPurgeStore(database, limits).purge(ago(1))).rejects.toThrow('lock timeout')
    await reader`rollback`
    reader.release()
    expect(await createPurgeStore(database).count(ago(1))).toBe(1)
    expect(await createPurgeStore(database).purge(ago(1))).toBe(1)
    expect(await rows()).toBe(1)
  })

  test('runs in one process at a time', async () => {
    await fill(ago(3), ago(2), noon)
    const results = await Promise.all([1, 2, 3].map(() => createPurgeStore(database).purge(ago(1))))
    expect(results.filter((result) => result === 2)).toHaveLength(1)
    for (const result of results) expect(['busy', 0, 2]).toContain(result)
  })

  test('leaves no lock timeout on shared connections', async () => {
    await fill(ago(2), noon)
    await createPurgeStore(database).purge(ago(1))
    const sessions = await Promise.all(Array.from({ length: 10 }, () => own.sql.reserve()))
    const limits = await Promise.all(
      sessions.map((session) => session`select current_setting('lock_timeout') as is`),
    )
    for (const session of sessions) session.release()
    expect(limits.flat()).toEqual(sessions.map(() => ({ is: '0' })))
  })

  test('with a longer retention than before restores nothing', async () => {
    await fill(ago(2), noon)
    await createPurgeStore(database).purge(ago(1))
    await createPurgeStore(database).purge(ago(3))
    const [kept] = await own.sql`select kept_since from request_log.retention`
    expect(kept?.kept_since).toEqual(ago(1))
  })
})

describe('the recurring purge', () => {
  const daily: PurgeSettings = { enabled: true, retention: '1d', schedule: '30 3 * * *' }

  /** Replicas of the database, all with the same clock. */
  function replicas(count: number, start = noon) {
    let now = start
    const clock = { now: () => now }
    const deletions: unknown[] = []
    const log = pino(
      { level: 'info' },
      { write: (line) => deletions.push(JSON.parse(line).deleted) },
    )
    const all = Array.from({ length: count }, () =>
      createPurgeWorker({ store: createPurgeStore(database), clock, log }),
    )
    return {
      deletions,
      configure(settings: PurgeSettings) {
        for (const worker of all) worker.configure(settings)
      },
      async at(time: string) {
        now = new Date(time)
        await Promise.all(all.map((worker) => worker.tick()))
        for (const worker of all) await worker.tick()
      },
    }
  }

  test('runs at its time, once per UTC day over all replicas', async () => {
    await fill(ago(3), ago(2), ago(1), noon)
    const workers = replicas(3)
    workers.configure(daily)
    await workers.at('2026-11-21T12:00:00Z')
    await workers.at('2026-11-22T03:29:59Z')
    expect(workers.deletions).toEqual([])
    await workers.at('2026-11-22T03:30:00Z')
    expect(workers.deletions).toEqual([3])
    await fill(ago(3), noon)
    await own.sql`update request_log.retention set scheduled_at = '2026-11-22T03:30:00Z'`
    await workers.at('2026-11-22T03:31:00Z')
    workers.configure({ ...daily, schedule: '0 9 * * *' })
    await workers.at('2026-11-22T09:00:30Z')
    await workers.at('2026-11-23T08:59:59Z')
    expect(workers.deletions).toEqual([3])
    await workers.at('2026-11-23T09:00:00Z')
    expect(workers.deletions).toEqual([3, 2])
  })

  test('catches up a missed time', async () => {
    await fill(ago(2), noon)
    await own.sql`update request_log.retention set scheduled_at = '2026-11-19T03:30:00Z'`
    const workers = replicas(1)
    workers.configure(daily)
    await workers.at('2026-11-21T01:00:00Z')
    expect(workers.deletions).toEqual([1])
    await workers.at('2026-11-21T03:30:00Z')
    expect(workers.deletions).toEqual([1])
  })

  const midnight = { ...daily, schedule: '0 0 * * *' }

  test('catches up the first time, too, if processes ran only in the daytime', async () => {
    await fill(ago(2), noon)
    const deletions: unknown[] = []
    for (const day of ['2026-11-21', '2026-11-22', '2026-11-23']) {
      const workers = replicas(2, new Date(`${day}T08:59:30Z`))
      workers.configure(midnight)
      await workers.at(`${day}T09:00:00Z`)
      await workers.at(`${day}T17:00:00Z`)
      deletions.push(workers.deletions)
    }
    expect(deletions).toEqual([[], [1], [1]])
  })

  test('does not miss a time between the start and the first check', async () => {
    await fill(ago(2), noon)
    const workers = replicas(1, new Date('2026-11-21T23:59:35Z'))
    workers.configure(midnight)
    await workers.at('2026-11-22T00:00:05Z')
    expect(workers.deletions).toEqual([1])
  })

  test('is not due at once after it is enabled', async () => {
    await fill(ago(2), noon)
    const workers = replicas(1)
    workers.configure({ ...daily, enabled: false })
    await workers.at('2026-11-21T13:00:00Z')
    workers.configure({ ...daily, schedule: '0 14 * * *' })
    await workers.at('2026-11-21T13:59:59Z')
    expect(workers.deletions).toEqual([])
    await workers.at('2026-11-21T14:00:00Z')
    expect(workers.deletions).toEqual([1])
  })

  test('does nothing unless it is enabled', async () => {
    await fill(ago(9), noon)
    const workers = replicas(1)
    await workers.at('2026-11-22T03:30:00Z')
    workers.configure({ ...daily, enabled: false })
    await workers.at('2026-11-23T03:30:00Z')
    await workers.at('2026-11-24T03:30:00Z')
    expect(workers.deletions).toEqual([])
    expect(await rows()).toBe(2)
  })

  test.each([
    ['0 0 * * *', undefined],
    ['59 23 1 * *', undefined],
    ['30 3 * * 1-5', undefined],
    ['0 0 29 2 *', undefined],
    ['*/5 * * * *', 'more often than once a day'],
    ['* * * * *', 'more often than once a day'],
    ['0 * * * *', 'more often than once a day'],
    ['0,30 0 * * *', 'more often than once a day'],
    ['0 0-23 29 2 *', 'more often than once a day'],
    ['0 0,12 * * *', 'more often than once a day'],
    ['0 0 0 * * *', '5 fields'],
    ['@daily', '5 fields'],
    ['', '5 fields'],
    ['0 0 31 2 *', 'matches no date'],
    ['61 0 * * *', 'is not a cron expression'],
    ['0 24 * * *', 'is not a cron expression'],
    ['a b c d e', 'is not a cron expression'],
  ])('the schedule %p: %p', (schedule, fault) => {
    const section = () => ({ purge: { schedule } })
    const problems = [...checkRequestLogging({ section } as never as ConfigDraft)]
    expect(problems.map(({ path }) => path.join('.'))).toEqual(
      fault === undefined ? [] : ['request_logging.purge.schedule'],
    )
    if (fault !== undefined) expect(problems[0]?.message).toContain(fault)
  })
})

describe('gateway purge-request-logs', () => {
  async function run(...args: string[]): Promise<string> {
    const clock = { now: () => noon }
    const lines: string[] = []
    const command = createPurgeCommand(createPurgeStore(database), clock, () => '3d')
    await command.run(args, (line) => lines.push(line))
    return lines.join('\n')
  }

  test('prints what it would delete, and then deletes exactly that', async () => {
    await fill(ago(8), ago(4), ago(2), noon)
    const before = '2026-11-18T12:00:00.123Z'
    expect(await run('--dry-run')).toBe(`2 request logs from before ${before} would be deleted`)
    expect(await run('--retention', '7d', '--dry-run')).toStartWith('1 request logs')
    expect(await run('--retention=1d', '--dry-run')).toStartWith('3 request logs')
    expect(await run('--before', '2026-11-14', '--dry-run')).toStartWith('1 request logs')
    expect(await rows()).toBe(4)
    expect(await run()).toBe(`2 request logs from before ${before} deleted`)
    expect(await run('--before', '2026-11-21T13:00:00+01:00')).toStartWith('1 request logs')
    expect(await rows()).toBe(1)
  })

  test.each([
    [['--retention', '2d'], 'must be 1d, 3d or 7d'],
    [['--retention'], '--retention needs a value'],
    [['--retention', '1d', '--retention', '3d'], 'is repeated'],
    [['--retention', '1d', '--before', '2026-11-14'], 'cannot be combined'],
    [['--before', 'yesterday'], 'must be a time'],
    [['--before', '2026-13-01'], 'must be a time'],
    [['--before', '2026-02-31T00:00:00Z'], 'must be a time'],
    [['--before', '2025-11-31'], 'must be a time'],
    [['--before', '0000-01-01'], 'must be a time'],
    [['--before', '2026-11-21T12:00:01Z'], 'must not be in the future'],
    [['--dry-run=yes'], 'unknown argument'],
    [['now'], 'unknown argument'],
  ])('%p is refused', async (args, message) => {
    await expect(run(...args)).rejects.toThrow(message)
  })
})
