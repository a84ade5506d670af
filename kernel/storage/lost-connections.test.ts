/** How the patched driver handles lost connections; the published driver fails these tests. */
import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import postgres, { type Sql, type TransactionSql } from 'postgres'
import { testServer } from '../../test/harness/database.ts'
import { eventually } from '../../test/harness/gateway.ts'
import { AT_ONCE, useProxiedPool } from './testing.ts'

const given = useProxiedPool()
const CONNECT_TIMEOUT_MS = 5_000
/** How long a closing pool waits for its work. */
const CLOSE_TIMEOUT_MS = 5_000

const times = <T>(length: number, make: (n: number) => T): T[] =>
  Array.from({ length }, (_, n) => make(n))

/** The server ends all connections of the database. */
async function endAll(): Promise<void> {
  const server = await testServer()
  const name = new URL(given.db.url).pathname.slice(1)
  await server.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
}

/** As many connections as the pool may have. */
async function fillPool(): Promise<void> {
  await Promise.all(times(AT_ONCE, () => given.sql`select pg_sleep(0.02)`))
}

/** Lets `lose` end the connections of a full pool, and waits until the driver has noticed each. */
async function loseAll(lose: () => Promise<void>): Promise<void> {
  const lost = Promise.withResolvers<void>()
  let closed = 0
  Object.assign(given.sql.options, {
    onclose() {
      if (++closed === AT_ONCE) lost.resolve()
    },
  })
  await lose()
  await lost.promise
}

/** Every slot of the pool answers, without waiting for a timeout. */
async function expectPlaces(): Promise<void> {
  const began = performance.now()
  const numbers = times(AT_ONCE, (n) => n)
  const rows = await Promise.all(
    numbers.map((n) => given.sql`select ${n}::int as n, pg_backend_pid() as pid, pg_sleep(0.2)`),
  )
  expect(rows.map(([row]) => row?.n)).toEqual(numbers)
  expect(new Set(rows.map(([row]) => row?.pid)).size).toBe(AT_ONCE)
  expect(performance.now() - began).toBeLessThan(CONNECT_TIMEOUT_MS)
}

/** Ends all connections once all transactions have begun. */
function createEnd(): (tx: TransactionSql) => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let begun = 0
  return async (tx) => {
    await tx`select 1`
    begun++
    if (begun === AT_ONCE) {
      await loseAll(endAll)
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
  [
    'at any moment of many small statements',
    async (tx, end) => {
      let failed = false
      void end(tx)
      while (!failed) {
        tx`select 2`.catch(() => {
          failed = true
        })
        await new Promise(setImmediate)
      }
      throw new Error('its own')
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

test.each(works)(
  'transactions that lose their connections %s leave a pool that works',
  async (_, work) => {
    const end = createEnd()
    const all = times(AT_ONCE, () => given.sql.begin((tx) => work(tx, end)))
    const outcomes = await Promise.allSettled(all)
    expect(outcomes.map(({ status }) => status)).toEqual(times(AT_ONCE, () => 'rejected'))
    await expectPlaces()
  },
)

test('connections that are lost amid many small statements settle each of them, and leave a pool that works', async () => {
  let [asked, settled] = [0, 0]
  const ask = async () => {
    const own = ++asked
    const rows = await given.sql`select ${own}::int as n`.catch(() => [{ n: own }])
    expect(rows).toEqual([{ n: own }])
    settled++
  }
  for (let round = 0; round < 6; round++) {
    const lose = round % 2 === 0 ? endAll : async () => given.proxy.reset()
    let lost: Promise<void> | undefined
    const began = performance.now()
    for (let ms = 0; ms < 60; ms = performance.now() - began) {
      if (asked - settled < 300) for (let n = 0; n < 3; n++) void ask()
      await new Promise(setImmediate)
      if (ms > 30) lost ??= lose()
    }
    await lost
    await eventually(async () => settled === asked || undefined, 20_000)
  }
  await expectPlaces()
}, 60_000)

test('the end of a lost transaction does not undo later work', async () => {
  await given.sql`create table things (n integer)`
  await fillPool()
  const lost = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const late = given.sql.begin(async (tx) => {
    await loseAll(endAll)
    lost.resolve()
    await over.promise
    await tx`select 1`.catch(() => {})
    throw new Error('its own')
  })
  await expect(late).rejects.toThrow(/CONNECTION_CLOSED|administrator/)
  await lost.promise
  await Promise.all(
    times(AT_ONCE, () =>
      given.sql.begin(async (tx) => {
        await tx`insert into things values (1)`
        over.resolve()
        await Bun.sleep(50)
      }),
    ),
  )
  const [kept] = await given.sql`select count(*)::int as count from things`
  expect(kept).toEqual({ count: AT_ONCE })
})

test('a session that lost its connection reaches no other one, and gives none back', async () => {
  await fillPool()
  const session = await given.sql.reserve()
  const [{ pid }] = await session<[{ pid: number }]>`select pg_backend_pid() as pid`
  const waiting = Promise.allSettled(times(5, () => session`select pg_sleep(${10}::float)`))
  await Bun.sleep(50)
  await loseAll(endAll)
  expect((await waiting).map(({ status }) => status)).toEqual(times(5, () => 'rejected'))
  const others = times(AT_ONCE, () => given.sql`select pg_backend_pid() as pid, pg_sleep(0.2)`)
  await Promise.race(others)
  await expect(session`select 1`).rejects.toThrow('CONNECTION_CLOSED')
  session.release()
  const pids = (await Promise.all(others)).map(([row]) => row?.pid)
  expect(pids).not.toContain(pid)
  await expectPlaces()
})

test('a session is given by a pool that has no connection left', async () => {
  await fillPool()
  await loseAll(endAll)
  const sessions = await Promise.all(times(AT_ONCE, () => given.sql.reserve()))
  const next = given.sql.reserve()
  expect(await Promise.race([next, Bun.sleep(50)])).toBeUndefined()
  for (const session of [...sessions, next]) {
    await (await session)`select 1`
    ;(await session).release()
  }
  await expectPlaces()
})

test('sessions that are refused for want of a server cost no place', async () => {
  await fillPool()
  await loseAll(async () => given.proxy.refuse())
  for (let n = 0; n < 2 * AT_ONCE; n++) await expect(given.sql.reserve()).rejects.toThrow()
  given.proxy.pass()
  await expectPlaces()
})

test.each([
  ['statement', (sql: Sql) => sql`select pg_sleep(10)`],
  ['transaction', (sql: Sql) => sql.begin((tx) => tx`select pg_sleep(10)`)],
])('closing a pool does not wait for a %s whose connection was lost', async (_, work) => {
  const outcome = Promise.allSettled([work(given.sql)])
  await Bun.sleep(50)
  const closed = given.pool.close()
  await endAll()
  const began = performance.now()
  await closed
  expect((await outcome)[0].status).toBe('rejected')
  expect(performance.now() - began).toBeLessThan(CLOSE_TIMEOUT_MS / 2)
})

test('a session that is given back while its connection is to be closed closes it', async () => {
  const session = await given.sql.reserve()
  const closed = given.pool.close()
  await session`select 1`
  const began = performance.now()
  session.release()
  await closed
  expect(performance.now() - began).toBeLessThan(CLOSE_TIMEOUT_MS / 2)

  const aged = postgres(given.db.url, { max: 1, max_lifetime: 0.1 })
  const old = await aged.reserve()
  const [before] = await old`select pg_backend_pid() as pid`
  await Bun.sleep(200)
  old.release()
  for (let n = 0; n < 5; n++) {
    const [now] = await aged`select pg_backend_pid() as pid`
    expect(now?.pid).not.toBe(before?.pid)
  }
  await aged.end()
})

test('reports at once a server that closes each connection, as a proxy without backend does', async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => {})
    socket.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const lonely = postgres(`postgres://me@127.0.0.1:${port}/x`, { max: 2 })
  for (let n = 1; n <= 5; n++) {
    await expect(lonely`select 1`.execute()).rejects.toThrow('CONNECTION_CLOSED')
    await expect(lonely.reserve()).rejects.toThrow('CONNECTION_CLOSED')
    expect(connections).toBe(2 * n)
  }
  await lonely.end()
  server.close()
})

test('rolls a failed transaction back, and returns the result of a successful one', async () => {
  await given.sql`create table things (n integer)`
  const fails = given.sql.begin(async (tx) => {
    await tx`insert into things values (1)`
    throw new Error('its own')
  })
  await expect(fails).rejects.toThrow('its own')
  const wrong = given.sql.begin((tx) => tx`select nonsense`)
  await expect(wrong).rejects.toThrow('nonsense')
  const both = given.sql.begin('isolation level serializable', (tx) => [
    tx`insert into things values (2) returning n`,
    tx`select current_setting('transaction_isolation') as level`,
  ])
  expect(JSON.stringify(await both)).toBe('[[{"n":2}],[{"level":"serializable"}]]')
  expect(JSON.stringify(await given.sql`select n from things`)).toBe('[{"n":2}]')
})
