import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AdminClient, adminClient } from '../../test/harness/admin.ts'
import { startTestGateway, type TestGateway } from '../../test/harness/gateway.ts'

const BUDGETS = '/api/v1/admin/spend/budgets'
let gateway: TestGateway
let root: AdminClient
let userId: string

interface Budget {
  readonly budget_id: string
  readonly remaining_usd: string | null
  readonly recent_usd: string | null
  readonly projected_exhaustion_at: string | null
}
interface BurnDown {
  readonly budget: Budget
  readonly days: readonly { day: string; spent_usd: string; remaining_usd: string }[]
}

beforeAll(async () => {
  gateway = await startTestGateway({ providers: [], models: [] })
  root = await adminClient(gateway)
  const [user] = await gateway.sql`select id from identity.users where email = 'ada@example.com'`
  userId = user?.id
})
afterAll(() => gateway.stop())

test('a budget shows its remaining amount on each day, and its projected end', async () => {
  const budget = await root.put<Budget>(BUDGETS, {
    scope: { kind: 'user', user_id: userId },
    cadence: 'monthly',
    amount_usd: '100',
  })
  const path = `${BUDGETS}/${budget.budget_id}/burn-down`
  const flat = await root.get<BurnDown>(path)
  expect(flat.budget).toMatchObject({
    remaining_usd: '100',
    recent_usd: '0',
    projected_exhaustion_at: null,
  })
  const today = new Date().toISOString().slice(0, 10)
  expect(flat.days).toHaveLength(Number(today.slice(8)))
  expect(flat.days.at(-1)).toMatchObject({ day: today, spent_usd: '0', remaining_usd: '100' })

  await gateway.sql`
    insert into accounting.spend_counters (scope_key, utc_day, spent, rejected)
    values (${`budget:v1:user:${userId}`}, ${today}, ${'99500000000000'}, 0)`
  const { budget: spent, days } = await root.get<BurnDown>(path)
  expect(days.at(-1)).toMatchObject({ spent_usd: '99.5', remaining_usd: '0.5' })
  expect(spent.remaining_usd).toBe('0.5')
  expect(spent.recent_usd).toBe('99.5')
  const { items } = await root.get<{ items: Budget[] }>(BUDGETS)
  expect(items[0]?.remaining_usd).toBe('0.5')
})

test('a tombstone without settings has no days; an unknown budget is 404', async () => {
  const tombstone = await root.post<Budget>(`${BUDGETS}/deactivate`, {
    scope: { kind: 'user_model', user_id: userId, upstream_model: 'vendor/one' },
  })
  expect(await root.get<BurnDown>(`${BUDGETS}/${tombstone.budget_id}/burn-down`)).toMatchObject({
    budget: { remaining_usd: null, projected_exhaustion_at: null },
    days: [],
  })
  const unknown = '01890000-0000-7000-8000-000000000000'
  expect(await root.refused('GET', `${BUDGETS}/${unknown}/burn-down`)).toMatchObject([
    404,
    'not_found',
    `budget ${unknown} does not exist`,
  ])
  const alerts = '/api/v1/admin/spend/budget-alerts'
  expect((await root.refused('GET', `${alerts}?budget_id=x`))[0]).toBe(400)
})
