import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SettlementRequest } from 'model-gateway/accounting'
import { type OpenDatabase, openDatabase } from '../../kernel/storage/database.ts'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { createDatabaseProxy, type DatabaseProxy } from '../../test/harness/database-proxy.ts'
import { eventually } from '../../test/harness/gateway.ts'
import type { LedgerRow } from './row.ts'
import { createStore } from './store.ts'
import {
  call,
  closeAll,
  dailyBudget,
  empty,
  expectBooksToBalance,
  migrations,
  openAccounting,
  readLedger,
  serviceAccount,
  type TestAccounting,
  temporaryFolder,
  usage,
  user,
} from './testing.ts'

const PLUGIN = 'plugin.accounting'
const TIMEOUT = 300

let database: TestDatabase
let proxy: DatabaseProxy
let pool: OpenDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await database.forPlugin(PLUGIN, migrations)
})
afterAll(() => database.drop())
afterEach(async () => {
  proxy.pass()
  await closeAll()
  await closeProxy()
  await empty(database.sql)
})

async function closeProxy(): Promise<void> {
  await pool.close()
  proxy.close()
}

async function open(spoolDirectory = temporaryFolder()): Promise<TestAccounting> {
  proxy = await createDatabaseProxy(database.url)
  pool = await openDatabase(proxy.url)
  const accounting = openAccounting(pool.forPlugin(PLUGIN), {
    commitTimeoutMs: TIMEOUT,
    spoolDirectory,
  })
  await accounting.refresh()
  return accounting
}

const spoolEmpty = (accounting: TestAccounting) =>
  eventually(async () => {
    const { spoolDepth, away } = accounting.status()
    return spoolDepth === 0 && !away ? true : undefined
  })

const someCalls = (count: number): SettlementRequest[] =>
  Array.from({ length: count }, (_, n) =>
    call({
      principal: n % 3 === 0 ? serviceAccount('s1') : user(`u${n % 5}`),
      usage: usage({ uncachedInput: n }),
    }),
  )

async function expectEachOnce(calls: readonly SettlementRequest[]): Promise<void> {
  const rows = await readLedger(database.sql)
  expect(rows.map((row) => row.request_id)).toEqual(calls.map((c) => c.requestId).sort())
  const rejected = await database.sql`select * from accounting.budget_rejected_charges`
  expect([...rejected]).toEqual([])
  await expectBooksToBalance(database.sql)
}

const outages = {
  'refuses connections': () => proxy.refuse(),
  hangs: () => proxy.freeze(),
  'breaks connections again and again': () => {
    const timer = setInterval(proxy.reset, 7)
    setTimeout(() => clearInterval(timer), 400)
  },
}

describe.each(Object.entries(outages))('a database that %s', (_, begin) => {
  test('loses and duplicates nothing: 200 calls settled meanwhile', async () => {
    const accounting = await open()
    const calls = someCalls(260)
    const settle = (some: readonly SettlementRequest[]) =>
      Promise.all(some.map((c) => accounting.settle(c)))
    await settle(calls.slice(0, 30))
    const running = settle(calls.slice(30, 60))
    begin()
    await running
    for (let n = 60; n < 260; n += 20) await settle(calls.slice(n, n + 20))
    proxy.pass()
    await spoolEmpty(accounting)
    await expectEachOnce(calls)
  })
})

test('no call waits behind a commit that hangs: after the first timeout it uses the spool', async () => {
  const accounting = await open()
  await accounting.settle(call())
  proxy.freeze()
  const first = performance.now()
  await accounting.settle(call())
  expect(performance.now() - first).toBeGreaterThanOrEqual(TIMEOUT - 5)
  expect(accounting.status()).toMatchObject({ away: true, writable: true })
  for (let n = 0; n < 10; n++) {
    const start = performance.now()
    await accounting.settle(call())
    await accounting.admit(call({ requestId: `chosen-${n}`, callerChoseRequestId: true }))
    expect(performance.now() - start).toBeLessThan(TIMEOUT / 2)
  }
  expect(accounting.status().spoolDepth).toBe(11)
  proxy.pass()
  await spoolEmpty(accounting)
  expect(await readLedger(database.sql)).toHaveLength(12)
  await expectBooksToBalance(database.sql)
})

test('a commit that succeeds after its timeout is the same row, not a duplicate', async () => {
  const accounting = await open()
  await accounting.budget([dailyBudget('u1', 800n)])
  // The statement reaches the server and waits for this lock.
  const release = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const lock = database.sql.begin(async (tx) => {
    await tx`lock table accounting.usage_cost_events in access exclusive mode`
    locked.resolve()
    await release.promise
  })
  await locked.promise
  const settled = call({ requestId: 'slow' })
  expect(await accounting.settle(settled)).toMatchObject({ kind: 'ledger', costPicoUsd: 400n })
  expect(accounting.status().spoolDepth).toBe(1)
  release.resolve()
  await lock
  // Reads include the late commit while its row is still in the spool.
  while (accounting.status().spoolDepth > 0) {
    await accounting.refresh().catch(() => {})
    await Bun.sleep(1)
  }
  await spoolEmpty(accounting)
  await expectEachOnce([settled])
  // After a reload it counts once, and another charge of 400 fits.
  await eventually(async () => {
    try {
      await accounting.admit(call())
      return true
    } catch {
      return undefined
    }
  })
  expect(await accounting.settle(call())).toMatchObject({ kind: 'ledger' })
  expect(() => accounting.admit(call())).toThrow('used up')
})

test('a read may take longer than a commit, as long as the database answers', async () => {
  const accounting = await open()
  const locked = Promise.withResolvers<void>()
  const lock = database.sql.begin(async (tx) => {
    await tx`lock table accounting.budgets in access exclusive mode`
    locked.resolve()
    await Bun.sleep(4 * TIMEOUT)
  })
  await locked.promise
  await accounting.refresh()
  expect(accounting.status().away).toBe(false)
  await lock
  proxy.freeze()
  await expect(accounting.refresh()).rejects.toThrow('no answer')
  expect(accounting.status().away).toBe(true)
})

describe('during a database outage', () => {
  const chosen = (requestId: string) => call({ requestId, callerChoseRequestId: true })
  const duplicate = { code: 'invalid_request', status: 400 }

  test.each([
    ['refuses', () => proxy.refuse()],
    ['hangs', () => proxy.freeze()],
  ])('an id is used once, running, spooled and written (%s)', async (_, begin) => {
    const accounting = await open()
    begin()
    await accounting.admit(chosen('x'))
    await expect(accounting.admit(chosen('x'))).rejects.toMatchObject(duplicate)
    await accounting.settle(chosen('x'))
    await expect(accounting.admit(chosen('x'))).rejects.toMatchObject(duplicate)
    const failed = call({ ...chosen('y'), usage: undefined, succeeded: false })
    await accounting.admit(failed)
    await accounting.settle(failed)
    await accounting.admit(chosen('y'))
    await accounting.settle(chosen('y'))
    proxy.pass()
    await spoolEmpty(accounting)
    await expect(accounting.admit(chosen('x'))).rejects.toMatchObject(duplicate)
    expect((await readLedger(database.sql)).map((row) => row.request_id)).toEqual(['x', 'y'])
  })

  test.each([
    ['refuses', () => proxy.refuse()],
    ['hangs', () => proxy.freeze()],
  ])(
    'the id of a call that fails meanwhile can be used again afterwards (%s)',
    async (_, begin) => {
      const accounting = await open()
      await accounting.admit(chosen('x'))
      await accounting.admit(chosen('z'))
      begin()
      await accounting.settle(call({ ...chosen('x'), usage: undefined, succeeded: false }))
      await accounting.settle(call({ ...chosen('z'), usage: undefined, succeeded: false }))
      // The id of a call that runs again is not released.
      await accounting.admit(chosen('z'))
      proxy.pass()
      await spoolEmpty(accounting)
      await accounting.refresh()
      const claims = await database.sql`select request_id from accounting.request_claims`
      expect([...claims]).toEqual([{ request_id: 'z' }])
      await accounting.admit(chosen('x'))
    },
  )

  test('the id of a call that failed meanwhile can be used at once after the outage', async () => {
    const accounting = await open()
    await accounting.admit(chosen('x'))
    proxy.refuse()
    await accounting.settle(call({ ...chosen('x'), usage: undefined, succeeded: false }))
    proxy.pass()
    await spoolEmpty(accounting)
    await accounting.admit(chosen('x'))
    await accounting.refresh()
    const claims = await database.sql`select request_id from accounting.request_claims`
    expect([...claims]).toEqual([{ request_id: 'x' }])
  })

  test('a call without a claim does not release that of another replica', async () => {
    const accounting = await open()
    const other = openAccounting(await database.forPlugin(PLUGIN, migrations))
    proxy.refuse()
    await accounting.admit(chosen('x'))
    proxy.pass()
    await spoolEmpty(accounting)
    await other.admit(chosen('x'))
    await accounting.settle(call({ ...chosen('x'), usage: undefined, succeeded: false }))
    await expect(accounting.admit(chosen('x'))).rejects.toMatchObject(duplicate)
  })

  test('an id in the spool of a dead process is used', async () => {
    const spoolDirectory = temporaryFolder()
    const first = await open(spoolDirectory)
    proxy.refuse()
    await first.settle(chosen('x'))
    await closeAll({ keepFolders: true })
    await closeProxy()

    const second = await open(spoolDirectory)
    proxy.refuse()
    await second.takeOver()
    await expect(second.admit(chosen('x'))).rejects.toMatchObject(duplicate)
    await second.admit(chosen('y'))
    proxy.pass()
    await spoolEmpty(second)
    expect(await readLedger(database.sql)).toHaveLength(1)
  })

  test('budgets count spooled rows, also after a restart', async () => {
    const spoolDirectory = temporaryFolder()
    const first = await open(spoolDirectory)
    await first.budget([dailyBudget('u1', 1000n)])
    proxy.refuse()
    await first.settle(call())
    await first.settle(call())
    expect(await first.settle(call())).toEqual({ kind: 'rejected', costPicoUsd: 400n })
    expect(() => first.admit(call())).toThrow('budget')
    await closeAll({ keepFolders: true })
    await closeProxy()
    expect(await readLedger(database.sql)).toEqual([])
    expect(readdirSync(spoolDirectory).filter((file) => file.endsWith('.log'))).toHaveLength(1)

    const second = await open(spoolDirectory)
    proxy.refuse()
    await second.takeOver()
    expect(second.status().spoolDepth).toBe(3)
    expect(() => second.admit(call())).toThrow('budget')
    expect(second.admit(call({ principal: user('u2') }))).toBeUndefined()
    proxy.pass()
    await spoolEmpty(second)
    expect(() => second.admit(call())).toThrow('budget')
    expect(await readLedger(database.sql)).toHaveLength(2)
    await expectBooksToBalance(database.sql)
    // Its lock is released shortly after the last row.
    while (readdirSync(spoolDirectory).length > 0) await Bun.sleep(5)
  })
})

test('if the spool fails, too, the reply is withheld and calls are refused until one works', async () => {
  const spoolDirectory = join(temporaryFolder(), 'spool')
  writeFileSync(spoolDirectory, 'in the way')
  const accounting = await open(spoolDirectory)
  await accounting.budget([dailyBudget('u1', 400n)])
  const failure = { code: 'store_unavailable', status: 503 }
  const withheld = call({ requestId: 'withheld' })
  await accounting.admit(withheld)
  proxy.refuse()
  await expect(accounting.settle(withheld)).rejects.toMatchObject(failure)
  expect(accounting.status()).toMatchObject({ away: true, writable: false })
  expect(() => accounting.admit(call())).toThrow('cannot be written')
  renameSync(spoolDirectory, `${spoolDirectory}-moved`)
  await eventually(async () => accounting.status().writable || undefined)
  // A call that was not settled is not spent, and its id can be used.
  await accounting.admit({ ...withheld, callerChoseRequestId: true })
  expect(await accounting.settle(call())).toMatchObject({ kind: 'ledger' })
  proxy.pass()
  await spoolEmpty(accounting)
  rmSync(spoolDirectory, { recursive: true, force: true })
  expect(await readLedger(database.sql)).toHaveLength(1)
})

test('a second outage ends like the first, with the repaired spool', async () => {
  const spoolDirectory = join(temporaryFolder(), 'spool')
  writeFileSync(spoolDirectory, 'in the way')
  const accounting = await open(spoolDirectory)
  proxy.refuse()
  await expect(accounting.settle(call())).rejects.toMatchObject({ code: 'store_unavailable' })
  proxy.pass()
  await eventually(async () => (accounting.status().away ? undefined : true))
  rmSync(spoolDirectory)
  proxy.freeze()
  await accounting.settle(call())
  expect(accounting.status()).toMatchObject({ away: true, writable: true, spoolDepth: 1 })
  proxy.pass()
  await spoolEmpty(accounting)
  expect(await readLedger(database.sql)).toHaveLength(1)
})

test('shutdown waits for rows being written, and leaves them in the spool', async () => {
  const spoolDirectory = temporaryFolder()
  const accounting = await open(spoolDirectory)
  proxy.freeze()
  const settled = accounting.settle(call())
  await closeAll({ keepFolders: true })
  expect(readdirSync(spoolDirectory).filter((file) => file.endsWith('.log'))).toHaveLength(1)
  expect(await settled).toMatchObject({ kind: 'ledger' })
})

test('a database that answers but rejects rows is unreachable: without a spool, calls are refused', async () => {
  const spoolDirectory = join(temporaryFolder(), 'spool')
  writeFileSync(spoolDirectory, 'in the way')
  const accounting = await open(spoolDirectory)
  await database.sql.unsafe(`
    create function accounting.no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
    create trigger no_room before insert on accounting.usage_cost_events
      execute function accounting.no_room()`)
  try {
    await expect(accounting.settle(call())).rejects.toMatchObject({ code: 'store_unavailable' })
    for (const start = performance.now(); performance.now() - start < 500; await Bun.sleep(5)) {
      expect(accounting.status()).toMatchObject({ away: true, writable: false })
      expect(() => accounting.admit(call())).toThrow('cannot be written')
    }
  } finally {
    await database.sql`drop function accounting.no_room cascade`
  }
  await eventually(async () => accounting.status().writable || undefined)
  await accounting.admit(call())
  expect(await accounting.settle(call())).toMatchObject({ kind: 'ledger' })
  expect(await readLedger(database.sql)).toHaveLength(1)
})

test('a row that the database rejects does not block the others', async () => {
  const accounting = await open()
  proxy.refuse()
  const calls = someCalls(5)
  const bad = call({ requestId: 'bad', principal: { ...user('u1'), apiKeyId: 'bad\0key' } })
  await Promise.all([...calls, bad].map((c) => accounting.settle(c)))
  proxy.pass()
  await spoolEmpty(accounting)
  await expectEachOnce(calls)
})

test('a row that the database rejects does not block its batch, and is not counted or kept', async () => {
  const accounting = await open()
  await accounting.budget([dailyBudget('u1', 10_000n)])
  const bad = call({
    requestId: 'bad',
    callerChoseRequestId: true,
    principal: { ...user('u1'), apiKeyId: 'bad\0key' },
  })
  await accounting.admit(bad)
  await Promise.all([bad, call({ requestId: 'good' })].map((c) => accounting.settle(c)))
  const rows = await eventually(async () => {
    const found = await readLedger(database.sql)
    return found.length > 0 ? found : undefined
  })
  expect(rows.map((row) => row.request_id)).toEqual(['good'])
  await spoolEmpty(accounting)
  const spent = () =>
    accounting.budgetsOf?.(bad, bad.dispatchedAt)?.map((budget) => budget.spentUsd)
  await eventually(async () => (spent()?.[0] === '0.0000000004' ? true : undefined))
  await accounting.refresh()
  expect(spent()).toEqual(['0.0000000004'])
  await database.sql`truncate accounting.request_claims`
  await accounting.admit(bad)
})

test('a test write with one failed statement leaves no transaction open', async () => {
  await open()
  const { sql, ...plugin } = pool.forPlugin(PLUGIN)
  const failing = async () => {
    const session = await sql.reserve()
    const unsafe = (text: string, ...more: never[]) =>
      session.unsafe(text.startsWith('set ') ? 'select 1 / 0' : text, ...more)
    const release = () => session.release()
    return Object.assign((text: TemplateStringsArray) => session(text), { unsafe, release })
  }
  const store = createStore({
    ...plugin,
    sql: Object.assign(() => {}, sql, { reserve: failing }) as unknown as typeof sql,
  })
  await expect(store.tryLedger({} as LedgerRow)).rejects.toThrow('division by zero')
  for (let n = 0; n < 20; n++) expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }])
})
