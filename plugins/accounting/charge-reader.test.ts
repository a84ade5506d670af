import { afterEach, beforeEach, expect, test } from 'bun:test'
import { eventually } from '../../test/harness/gateway.ts'
import { type ChargeRow, type Charges, createChargeReader } from './charge-reader.ts'
import { empty, openTransactions, useDatabase } from './testing.ts'
import { utcDay } from './window.ts'

const own = useDatabase()
const window = { start: utcDay(new Date('2026-02-20')), end: utcDay(new Date('2026-03-05')) }
/** More rows than are read ahead, so that a transaction stays open. */
const MANY = 12_000

beforeEach(() => fill(MANY))
afterEach(() => empty(own.sql))

/** Charges of thirteen days; owner names sort the same in the database and here. */
async function fill(count: number): Promise<void> {
  await own.sql.unsafe(`
    insert into accounting.usage_rollups (bucket_start, owner_kind, owner_id, model_key,
      resolved_model_key, provider_key, upstream_model, pricing_status, requests, cost_pico_usd)
    select '2026-02-20'::timestamptz + interval '12 hours' * (n % 26), case n % 2 when 0 then 'user'
        else 'service_account' end, chr(65 + n % 60) || (n / 52), 'm', 'm', 'p', '"a", b' || n % 3,
      case n % 5 when 0 then 'legacy_estimated' when 1 then 'unpriced' else 'priced' end, 1, n
    from generate_series(1, ${count} * 5 / 4) as n`)
}

async function all(rows: Charges['rows']): Promise<ChargeRow[]> {
  const read: ChargeRow[] = []
  for await (const piece of rows) read.push(...piece)
  return read
}

const allClosed = () => eventually(async () => (await openTransactions(own.sql)) === 0 || undefined)

test('all charges are read in order, with the number of requests without one', async () => {
  // A day of the next window.
  await own.sql.unsafe(`
    insert into accounting.usage_rollups (bucket_start, owner_kind, owner_id, model_key,
      resolved_model_key, provider_key, upstream_model, pricing_status, requests, cost_pico_usd)
    values ('2026-03-05', 'user', 'A', 'm', 'm', 'p', 'u', 'priced', 1, 1)`)
  const read = createChargeReader(own.database)
  const { rows, unpriced, usageMissing } = await read(window)
  const charges = await all(rows)
  const expected = await own.sql
    .unsafe(`
    select (bucket_start at time zone 'UTC')::date, owner_kind, owner_id, provider_key,
      upstream_model, pricing_status, concat_ws(' ', sum(cost_pico_usd), sum(requests), 0, 0, 0, 0,
        0, 0)
    from accounting.usage_rollups
    where pricing_status <> 'unpriced' and bucket_start < '2026-03-05'
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`)
    .values()
  expect(charges.length).toBe(MANY)
  expect(charges).toEqual([...expected] as unknown as ChargeRow[])
  expect([unpriced, usageMissing]).toEqual([String(MANY / 4), '0'])

  const chosen = { ...window, ownerKind: 'user', ownerId: 'A1' } as const
  const ofOne = await all((await read(chosen)).rows)
  expect(ofOne).toEqual(charges.filter(([, kind, id]) => kind === 'user' && id === 'A1'))
  const ofUsers = await all((await read({ ...window, ownerKind: 'user' })).rows)
  expect(ofUsers).toEqual(charges.filter(([, kind]) => kind === 'user'))
})

test('an export excludes charges that are written while it is read', async () => {
  const { rows } = await createChargeReader(own.database)(window)
  await own.sql`delete from accounting.usage_rollups`
  expect((await all(rows)).length).toBe(MANY)
})

test('few charges hold no connection for a consumer that does not read', async () => {
  await empty(own.sql)
  await fill(4000)
  const { rows } = await createChargeReader(own.database)(window)
  await allClosed()
  expect((await all(rows)).length).toBe(4000)
})

test('a consumer that stops releases the connection', async () => {
  const { rows } = await createChargeReader(own.database)(window)
  for await (const _ of rows) break
  await allClosed()
})

test('a connection that is lost between reads aborts the export', async () => {
  const { rows } = await createChargeReader(own.database)(window)
  await own.sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`
  await expect(all(rows)).rejects.toThrow()
})

test('an export that takes too long is aborted', async () => {
  const { rows } = await createChargeReader(own.database, 100)(window)
  await allClosed()
  await expect(all(rows)).rejects.toThrow('took too long')
})

test('two exports run at the same time, and the next one waits', async () => {
  const read = createChargeReader(own.database)
  const [first, second] = await Promise.all([read(window), read(window)])
  const third = read(window)
  expect(await Promise.race([third, Bun.sleep(200)])).toBeUndefined()
  expect(await openTransactions(own.sql)).toBe(2)
  await first.rows.cancel()
  expect((await all((await third).rows)).length).toBe(MANY)
  await second.rows.cancel()
})

test('an unreachable database is reported before anything is read', async () => {
  await own.sql`alter table accounting.usage_rollups rename to away`
  try {
    await expect(createChargeReader(own.database)(window)).rejects.toThrow('does not exist')
  } finally {
    await own.sql`alter table accounting.away rename to usage_rollups`
  }
})
