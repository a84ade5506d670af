import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Sql, TransactionSql } from 'postgres'
import { createTestDatabase, type TestDatabase, testServer } from '../../test/harness/database.ts'

let db: TestDatabase
beforeEach(async () => {
  db = await createTestDatabase()
})
afterEach(() => db.drop())

/** The size of the pool. */
const AT_ONCE = 10
const CONNECT_TIMEOUT_MS = 5_000

/** Once all transactions have begun, the server ends all connections of the database. */
function createEnd(): (tx: TransactionSql) => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let begun = 0
  return async (tx) => {
    await tx`select 1`
    begun++
    if (begun === AT_ONCE) {
      const { sql } = await testServer()
      const name = new URL(db.url).pathname.slice(1)
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
      await Bun.sleep(50)
      resolve()
    }
    await promise
  }
}

type End = ReturnType<typeof createEnd>

const works: [what: string, work: (tx: TransactionSql, end: End) => Promise<unknown>][] = [
  ['in a statement', (tx, end) => Promise.all([end(tx), tx`select pg_sleep(10)`])],
  [
    'between two statements',
    async (tx, end) => {
      await end(tx)
      await tx`select 2`
    },
  ],
  ['before the end', (tx, end) => end(tx)],
  [
    'before what it throws',
    async (tx, end) => {
      await end(tx)
      throw new Error('its own')
    },
  ],
]

test.each(works)('connections that are lost %s leave a pool that works', async (_, work) => {
  const end = createEnd()
  const all = Array.from({ length: AT_ONCE }, () => db.sql.begin((tx) => work(tx, end)))
  const outcomes = await Promise.allSettled(all)
  expect(outcomes.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill('rejected'))
  const began = performance.now()
  const calls = () => Array.from({ length: AT_ONCE }, () => db.sql`select pg_sleep(0.02)`)
  // The driver may still tell the first one on each new connection why the one before ended.
  await Promise.allSettled(calls())
  await Promise.all(calls())
  expect(performance.now() - began).toBeLessThan(CONNECT_TIMEOUT_MS)
})

test('a transaction that fails by itself is rolled back, and one that succeeds gives its result', async () => {
  const { sql } = db
  await sql`create table things (n integer)`
  const fails = (sql: Sql) =>
    sql.begin(async (tx) => {
      await tx`insert into things values (1)`
      throw new Error('its own')
    })
  await expect(fails(sql)).rejects.toThrow('its own')
  const wrong = sql.begin((tx) => tx`select nonsense`)
  await expect(wrong).rejects.toThrow('nonsense')
  const both = sql.begin('isolation level serializable', (tx) => [
    tx`insert into things values (2) returning n`,
    tx`select current_setting('transaction_isolation') as level`,
  ])
  expect(JSON.stringify(await both)).toBe('[[{"n":2}],[{"level":"serializable"}]]')
  expect(JSON.stringify(await sql`select n from things`)).toBe('[{"n":2}]')
})
