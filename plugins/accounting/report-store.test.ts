import { expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { focusFile } from './focus.ts'
import { createReportStore } from './report-store.ts'
import { call, dailyBudget, openAccounting, serviceAccount, useDatabase } from './testing.ts'
import { utcDay } from './window.ts'

const own = useDatabase()

const at = (day: string) => new Date(`${day}T12:00:00Z`)
const from = (start: string, end: string) => ({ start: utcDay(at(start)), end: utcDay(at(end)) })
const everything = from('2026-03-01', '2026-04-01')

async function charged(selection = everything) {
  const { rows } = await createReportStore(own.database).charges(selection)
  return (await Array.fromAsync(rows)).flat()
}

test('an export has exactly the requested days', async () => {
  const gateway = openAccounting(own.database)
  for (const day of ['2026-03-01', '2026-03-02', '2026-03-07', '2026-03-08']) {
    await gateway.settle(call({ dispatchedAt: at(day) }))
  }
  const daysOf = async (start: string, end: string) =>
    (await charged(from(start, end))).map(([day]) => day)
  expect(await daysOf('2026-03-01', '2026-03-02')).toEqual(['2026-03-01'])
  expect(await daysOf('2026-03-01', '2026-03-08')).toEqual([
    '2026-03-01',
    '2026-03-02',
    '2026-03-07',
  ])
})

test('an export has no row for charges that a hard limit rejected completely', async () => {
  const gateway = openAccounting(own.database)
  await gateway.budget([dailyBudget('u1', 1n)])
  const settled = await gateway.settle(call({ dispatchedAt: at('2026-03-01') }))
  expect(settled.kind).toBe('rejected')
  expect(await charged()).toEqual([])
})

test('a row of a FOCUS file has its day, and the billing month', async () => {
  const gateway = openAccounting(own.database)
  await gateway.settle(call({ dispatchedAt: at('2026-03-31') }))
  const { rows } = await createReportStore(own.database).charges(everything)
  const file = await Array.fromAsync(focusFile(rows, { users: [], serviceAccounts: [] }))
  const times = file.join('').match(/\d{4}-\d{2}-\d{2}T[\d:]+Z/g)
  expect(times).toEqual([
    '2026-04-01T00:00:00Z',
    '2026-03-01T00:00:00Z',
    '2026-04-01T00:00:00Z',
    '2026-03-31T00:00:00Z',
  ])
})

test('an unknown owner is named by id, because a sub account needs a name', async () => {
  const gateway = openAccounting(own.database)
  await gateway.settle(call({ dispatchedAt: at('2026-03-31') }))
  const { rows } = await createReportStore(own.database).charges(everything)
  const file = await Array.fromAsync(focusFile(rows, { users: [], serviceAccounts: [] }))
  expect(parse(file.join(''), { columns: true })).toMatchObject([
    { SubAccountId: 'user:u1', SubAccountName: 'u1', SubAccountType: 'User' },
  ])
})

test('a report lists the highest spend first, regardless of the number of calls', async () => {
  const gateway = openAccounting(own.database)
  const dear = { pricing: { pricingProviderId: 'p', model: 'vendor/dear' }, resolvedModel: 'dear' }
  const dispatchedAt = at('2026-03-01')
  for (let n = 0; n < 2; n++) await gateway.settle(call({ dispatchedAt }))
  await gateway.settle(call({ dispatchedAt, principal: serviceAccount('s1'), ...dear }))
  const rows = await createReportStore(own.database).report(everything)
  const of = (wanted: string) => rows.filter(({ list }) => list === wanted)
  expect(of('owner').map(({ owner_id }) => owner_id)).toEqual(['s1', 'u1'])
  expect(of('model').map((row) => row.resolved_model_key)).toEqual(['dear', 'small-model'])
})

test('rejected charges of a service account are found by its id', async () => {
  const gateway = openAccounting(own.database)
  const scope = { kind: 'service_account', serviceAccountId: 's1' } as const
  await gateway.budget([{ ...dailyBudget('x', 1n), scope }, dailyBudget('u1', 1n)])
  const dispatchedAt = at('2026-03-01')
  await gateway.settle(call({ dispatchedAt, principal: serviceAccount('s1') }))
  await gateway.settle(call({ dispatchedAt }))
  const { charges, total } = await createReportStore(own.database).rejected(
    { ownerId: 's1' },
    { limit: 10, offset: 0 },
  )
  expect([total, charges.map((charge) => charge.owner_id)]).toEqual([1, ['s1']])
})
