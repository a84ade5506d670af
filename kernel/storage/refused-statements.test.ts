/** How the patched driver handles refused statements; the published driver fails these tests. */
import { expect, test } from 'bun:test'
import type { Sql } from 'postgres'
import { eventually } from '../../test/harness/gateway.ts'
import { AT_ONCE, useProxiedPool } from './testing.ts'

const given = useProxiedPool()
/** Number of statements that the driver pipelines. */
const IN_LINE = 100

const atOnce = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: AT_ONCE }, make))

test('a statement that fails midway does not affect the rows of the next ones', async () => {
  const failing = (on: Sql) => on`select 1 / (5 - n) as x from generate_series(1, 9) as n`
  const own = given.sql.begin(async (tx) => {
    await tx.savepoint((inner) => failing(inner as unknown as Sql)).catch(() => {})
    return await tx`select 1 as n`
  })
  expect([...(await own)]).toEqual([{ n: 1 }])
  for (let round = 0; round < AT_ONCE; round++) {
    await expect(failing(given.sql).execute()).rejects.toThrow('division by zero')
    const found = await atOnce(async () => [
      ...(await given.sql`select generate_series(1, 2) as n`),
    ])
    for (const rows of found) expect(rows).toEqual([{ n: 1 }, { n: 2 }])
  }
})

test('a statement with values that cannot be serialised fails alone', async () => {
  const at = (when: Date) => given.sql`select ${when}::timestamptz as at`
  // Prepares the statement on every connection.
  await atOnce(() => Promise.all([given.sql`select pg_sleep(0.1)`, at(new Date(0))]))
  const asked = Array.from({ length: 4 * AT_ONCE }, (_, n) =>
    n % 20 === 15
      ? at(new Date(Number.NaN)).then(
          () => 'given',
          (error: Error) => error.name,
        )
      : given.sql`select ${n}::int as n, pg_sleep(0.05)`.then(([row]) => row?.n),
  )
  expect(await Promise.all(asked)).toEqual(asked.map((_, n) => (n % 20 === 15 ? 'RangeError' : n)))
})

test.each([
  ['commit', async () => {}],
  ['rollback', () => Promise.reject(new Error('its own'))],
])('a transaction whose %s fails ends and releases its slot', async (statement, work) => {
  await given.db.sql`create table things (n integer)`
  for (let round = 0; round < AT_ONCE; round++) {
    given.proxy.spoil(statement)
    const failing = given.sql.begin(async (tx) => {
      await tx`insert into things values (1)`
      await work()
    })
    await expect(failing).rejects.toThrow()
  }
  await atOnce(async () => await given.sql`select pg_sleep(0.1)`)
  await given.db.sql.begin((tx) => tx`lock table things in access exclusive mode nowait`)
  expect([...(await given.db.sql`select * from things`)]).toEqual([])
})

test('a transaction that is queued as the last statement of a connection works', async () => {
  await given.db.sql`create table things (n integer)`
  await atOnce(async () => await given.sql`select pg_sleep(0.1)`)
  const before = Array.from({ length: AT_ONCE * IN_LINE }, () =>
    given.sql.unsafe('select 1').execute(),
  )
  const own = atOnce(() => given.sql.begin((tx) => tx`insert into things values (1)`))
  await Promise.all(before)
  await own
  const [kept] = await given.db.sql`select count(*)::int as count from things`
  expect(kept).toEqual({ count: AT_ONCE })
})

/** Has every connection know the statement, whose plan then does not fit the table any more. */
async function knowBeforeChange(ask: (on: Sql) => PromiseLike<unknown>): Promise<void> {
  await given.db.sql`create table things (n integer, yes boolean)`
  const sessions = await atOnce(() => given.sql.reserve())
  for (const session of sessions) await ask(session)
  for (const session of sessions) session.release()
  await given.db.sql`truncate things`
  await given.db.sql`alter table things add column more integer`
}

test('a statement that is planned again keeps its values', async () => {
  const add = (on: Sql) => on`insert into things values (1, ${true}) returning *`
  await knowBeforeChange(add)
  const added = await atOnce(async () => [...(await add(given.sql))])
  expect(added).toEqual(added.map(() => [{ n: 1, yes: true, more: null }]))
})

test('statements after one that is planned again get their own rows', async () => {
  const add = (on: Sql) => on`insert into things values (${7}) returning *`
  await knowBeforeChange(add)
  const asked = Array.from({ length: 4 * AT_ONCE }, (_, n) => [
    add(given.sql).then(([row]) => row?.n),
    given.sql`select ${n}::int as n`.then(([row]) => row?.n),
  ])
  const expected = asked.flatMap((_, n) => [7, n])
  expect(await Promise.all(asked.flat())).toEqual(expected)
})

test('a statement that is planned again is not in a transaction that begins later', async () => {
  const add = (on: Sql) => on`insert into things values (${1}) returning *`
  await knowBeforeChange(add)
  const before = atOnce(async () => await given.sql`select pg_sleep(0.1)`)
  const added = atOnce(async () => [...(await add(given.sql))])
  const others = atOnce(() =>
    given.sql
      .begin(async (tx) => {
        await tx`select 1`
        throw new Error('its own')
      })
      .catch(({ message }: Error) => message),
  )
  await before
  expect(await added).toEqual(
    Array.from({ length: AT_ONCE }, () => [{ n: 1, yes: null, more: null }]),
  )
  expect(await others).toEqual(Array.from({ length: AT_ONCE }, () => 'its own'))
  const [kept] = await given.db.sql`select count(*)::int as count from things`
  expect(kept).toEqual({ count: AT_ONCE })
})

test('a statement with an invalid plan in a transaction is not executed after it', async () => {
  const add = (on: Sql) => on`insert into things values (${1}) returning *`
  await knowBeforeChange(add)
  const session = await given.sql.reserve()
  const sent = [session`begin`, add(session), session`rollback`]
  const [, added] = await Promise.allSettled(sent)
  expect(added).toMatchObject({ status: 'rejected', reason: { code: '0A000' } })
  expect(await add(session)).toHaveLength(1)
  session.release()
  const [kept] = await given.db.sql`select count(*)::int as count from things`
  expect(kept).toEqual({ count: 1 })
})

test.each([
  ['commit', 'sent at once', 'values (1)', []],
  ['commit', 'sent one by one', 'values ($1)', [1]],
  ['rollback', 'sent at once', 'values (1)', []],
  ['rollback', 'sent one by one', 'values ($1)', [1]],
])('a statement after a %s, %s, is refused and not executed', async (end, _, values, args) => {
  await given.db.sql`create table things (n integer)`
  const asked: Promise<unknown>[] = []
  const own = given.sql.begin(async (tx) => {
    await tx`select 1`
    const goOn = async () => {
      for (let n = 0; n < 50; n++) {
        asked.push(tx.unsafe(`insert into things ${values}`, args).execute())
        await Promise.resolve()
      }
    }
    void goOn()
    if (end === 'rollback') throw new Error('its own')
  })
  await own.catch(() => {})
  const outcomes = await Promise.allSettled(asked)
  const done = outcomes.filter(({ status }) => status === 'fulfilled').length
  expect(done).toBeLessThan(asked.length)
  const [kept] = await given.db.sql`select count(*)::int as count from things`
  expect(kept).toEqual({ count: end === 'commit' ? done : 0 })
})

const channels = ['one', 'two', 'three']

test('a listener is registered once after a long outage', async () => {
  const heard: string[] = []
  let connected = 0
  for (const channel of channels) {
    const listening = () => void connected++
    await given.pool
      .forPlugin('plugin.x')
      .listen(channel, () => void heard.push(channel), listening)
  }
  for (const end of [given.proxy.hangUp, given.proxy.refuse]) {
    connected = 0
    end()
    await Bun.sleep(1_500)
    given.proxy.pass()
    await eventually(async () => connected >= channels.length || undefined)
    for (const channel of channels) await given.db.sql`select pg_notify(${channel}, '')`
    await eventually(async () => heard.length >= channels.length || undefined)
    await Bun.sleep(50)
    expect(heard.splice(0).toSorted()).toEqual(channels.toSorted())
    expect(connected).toBe(channels.length)
  }
})

test('a listener that is refused, as on a standby, is registered later', async () => {
  const heard: string[] = []
  let connected = 0
  const listening = () => void connected++
  const { listen } = given.pool.forPlugin('plugin.x')
  const stop = await listen('one', (text) => void heard.push(text), listening)
  given.proxy.spoil('listen ')
  given.proxy.reset()
  await eventually(async () => connected > 1 || undefined)
  await given.db.sql`select pg_notify('one', 'yes')`
  await eventually(async () => heard.length > 0 || undefined)
  expect(heard).toEqual(['yes'])
  await stop()
  await given.db.sql`select pg_notify('one', 'again')`
  await Bun.sleep(50)
  expect(heard).toEqual(['yes'])
})
