/** What the driver does about statements that are refused: its own code would fail these tests. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Sql } from 'postgres'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { createDatabaseProxy, type DatabaseProxy } from '../../test/harness/database-proxy.ts'
import { eventually } from '../../test/harness/gateway.ts'
import { type OpenDatabase, openDatabase } from './database.ts'

let db: TestDatabase
let proxy: DatabaseProxy
let pool: OpenDatabase
let sql: Sql

beforeEach(async () => {
  db = await createTestDatabase()
  proxy = await createDatabaseProxy(db.url)
  pool = await openDatabase({ url: proxy.url, dataDir: '/' })
  sql = pool.sql
})
afterEach(async () => {
  await pool.close()
  proxy.close()
  await db.drop()
})

/** The size of the pool. */
const AT_ONCE = 10

const atOnce = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: AT_ONCE }, make))

test('a statement that fails amid its rows leaves nothing in what the next ones return', async () => {
  const failing = (on: Sql) => on`select 1 / (5 - n) as x from generate_series(1, 9) as n`
  const own = sql.begin(async (tx) => {
    await tx.savepoint((inner) => failing(inner as unknown as Sql)).catch(() => {})
    return await tx`select 1 as n`
  })
  expect([...(await own)]).toEqual([{ n: 1 }])
  for (let round = 0; round < AT_ONCE; round++) {
    await expect(failing(sql).execute()).rejects.toThrow('division by zero')
    const found = await atOnce(async () => [...(await sql`select generate_series(1, 2) as n`)])
    for (const rows of found) expect(rows).toEqual([{ n: 1 }, { n: 2 }])
  }
})

test('a statement whose values cannot be written down fails alone', async () => {
  const at = (when: Date) => sql`select ${when}::timestamptz as at`
  // So that the statement is known on every connection.
  await atOnce(() => Promise.all([sql`select pg_sleep(0.1)`, at(new Date(0))]))
  const asked = Array.from({ length: 4 * AT_ONCE }, (_, n) =>
    n % 20 === 15
      ? at(new Date(Number.NaN)).then(
          () => 'given',
          (error: Error) => error.name,
        )
      : sql`select ${n}::int as n, pg_sleep(0.05)`.then(([row]) => row?.n),
  )
  expect(await Promise.all(asked)).toEqual(asked.map((_, n) => (n % 20 === 15 ? 'RangeError' : n)))
})

test.each([
  ['commit', async () => {}],
  ['rollback', () => Promise.reject(new Error('its own'))],
])('a transaction whose %s fails is over, and costs no place', async (statement, work) => {
  await db.sql`create table things (n integer)`
  for (let round = 0; round < AT_ONCE; round++) {
    proxy.spoil(statement)
    const failing = sql.begin(async (tx) => {
      await tx`insert into things values (1)`
      await work()
    })
    await expect(failing).rejects.toThrow()
  }
  await atOnce(async () => await sql`select pg_sleep(0.1)`)
  await db.sql.begin((tx) => tx`lock table things in access exclusive mode nowait`)
  expect([...(await db.sql`select * from things`)]).toEqual([])
})

const channels = ['one', 'two', 'three']

test('who listens listens once after a long time without a server', async () => {
  const heard: string[] = []
  let connected = 0
  for (const channel of channels) {
    const listening = () => void connected++
    await pool.forPlugin('plugin.x').listen(channel, () => void heard.push(channel), listening)
  }
  for (const end of [proxy.hangUp, proxy.refuse]) {
    connected = 0
    end()
    await Bun.sleep(1_500)
    proxy.pass()
    await eventually(async () => connected >= channels.length || undefined)
    for (const channel of channels) await db.sql`select pg_notify(${channel}, '')`
    await eventually(async () => heard.length >= channels.length || undefined)
    await Bun.sleep(50)
    expect(heard.splice(0).toSorted()).toEqual(channels.toSorted())
    expect(connected).toBe(channels.length)
  }
})

test('who may not listen yet, as on a standby, listens when that is over', async () => {
  const heard: string[] = []
  let connected = 0
  const listening = () => void connected++
  const { listen } = pool.forPlugin('plugin.x')
  const stop = await listen('one', (text) => void heard.push(text), listening)
  proxy.spoil('listen ')
  proxy.reset()
  await eventually(async () => connected > 1 || undefined)
  await db.sql`select pg_notify('one', 'yes')`
  await eventually(async () => heard.length > 0 || undefined)
  expect(heard).toEqual(['yes'])
  await stop()
})
