import { beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { testDesk } from './harness.ts'

const desk = testDesk({ requests: 300, traffic: false })

/** A user in the demo data with a team and an API key. */
const ada = { id: '', name: 'Ada Abara', team: '', teamName: '', key: '' }

interface Users {
  readonly items: readonly { user_id: string; team: { team_id: string; name: string } }[]
}

/** Tool calls: two by Ada, one of them with her key, and one by another user without a team. */
beforeAll(async () => {
  const { items } = await desk.admin.get<Users>('/api/v1/admin/users?search=ada.abara')
  const [user] = items
  Object.assign(ada, {
    id: user?.user_id,
    team: user?.team.team_id,
    teamName: user?.team.name,
  })
  const key = await desk.admin.post<{ api_key_id: string }>('/api/v1/admin/api-keys', {
    name: 'laptop of Ada',
    owner: { kind: 'user', user_id: ada.id },
    model_grant_mode: 'all',
  })
  ada.key = key.api_key_id
  for (const [user_id, team_id, api_key_id] of [
    [ada.id, ada.team, ada.key],
    [ada.id, ada.team, 'another key'],
    ['another user', null, 'another key'],
  ] as const) {
    await desk.sql`
      insert into mcp_audit.mcp_tool_invocations (id, occurred_at, request_id, owner_kind, user_id,
        team_id, api_key_id, server_key, tool_name, status, policy_result, latency_ms, held_until)
      values (gen_random_uuid(), now(), gen_random_uuid()::text, 'user', ${user_id}, ${team_id},
        ${api_key_id}, 'wiki', 'find_page', 'success', 'allowed', 12, now())`
  }
})

const pageOf = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor()
const colorOf = (field: Locator) => field.evaluate((it) => getComputedStyle(it).borderTopColor)

async function pick(page: Page, field: string, name: string): Promise<void> {
  const box = page.getByRole('combobox', { name: field, exact: true })
  await box.fill(name)
  await page.getByRole('option', { name }).first().waitFor()
  await box.press('Enter')
}

test('tool calls can be filtered by user, team and key, also after a reload and “back”', async () => {
  const page = await desk.open('/mcp/invocations')
  await pageOf(page, '1 – 3 of 3')
  await pick(page, 'User or team', ada.name)
  await page.waitForURL(new RegExp(`user_id=${ada.id}`))
  await pageOf(page, '1 – 2 of 2')
  await pick(page, 'API key', 'laptop of Ada')
  await page.waitForURL(new RegExp(`api_key_id=${ada.key}`))
  await pageOf(page, '1 – 1 of 1')
  await page.reload()
  await pageOf(page, '1 – 1 of 1')
  const key = page.getByRole('combobox', { name: 'API key' })
  expect(await key.inputValue()).toBe('laptop of Ada')
  await page.getByRole('navigation').getByRole('link', { name: 'Models' }).click()
  await page.getByRole('heading', { name: 'Models' }).waitFor()
  await page.goBack()
  await pageOf(page, '1 – 1 of 1')
  await page.getByRole('button', { name: 'Clear all' }).click()
  // A choice made before the URL has changed would be cleared with the rest.
  await page.waitForURL((url) => !url.search.includes('_id'))
  await pageOf(page, '1 – 3 of 3')
  await pick(page, 'User or team', ada.teamName)
  await page.waitForURL(new RegExp(`team_id=${ada.team}`))
  await pageOf(page, '1 – 2 of 2')
})

test('rejected charges can be filtered by owner and by request', async () => {
  await desk.sql`
    insert into accounting.budget_rejected_charges
    select distinct on (user_id) (jsonb_populate_record(null::accounting.budget_rejected_charges,
      to_jsonb(u) || '{"reason":"budget_exceeded"}')).* from accounting.usage_cost_events u
    where user_id is not null and request_id not in (
      select request_id from accounting.budget_rejected_charges)
    order by user_id limit 5`
  const [charge] = await desk.sql`
    select c.request_id, u.id, u.name from accounting.budget_rejected_charges c
    join identity.users u on u.id::text = c.user_id limit 1`
  const [own] = await desk.sql`
    select count(*)::int as n from accounting.budget_rejected_charges
    where user_id = ${charge?.id}`
  const page = await desk.open('/spend')
  const card = page.locator('section').filter({ hasText: 'calls were served but not charged' })
  const rows = card.getByRole('table', { name: 'Rejected charges' }).getByRole('row')
  await rows.nth(1).waitFor()
  await pick(page, 'Owner', charge?.name)
  await page.waitForURL(new RegExp(`user_id=${charge?.id}`))
  await pageOf(page, `1 – ${own?.n} of ${own?.n}`)
  expect(await rows.filter({ hasText: charge?.name }).count()).toBe(own?.n)
  await card.getByLabel('Request ID').fill('no such request')
  await page.keyboard.press('Enter')
  await card.getByText('No charges match these filters').waitFor()
  await page.goto(`${desk.gateway.url}/console/spend?request_id=${charge?.request_id}`)
  await pageOf(page, '1 – 1 of 1')
  await card.getByRole('button', { name: 'Clear all' }).click()
  await page.waitForURL((url) => !url.search.includes('request_id'))
})

test('a set filter looks different from an unset one', async () => {
  const page = await desk.open('/account')
  for (const [path, label, value] of [
    ['/requests', 'Status', '503'],
    ['/mcp/invocations', 'Status', 'timeout'],
    ['/guardrails', 'Phase', 'prompt'],
    ['/audit-log', 'Object', 'team'],
    ['/spend', 'Reason', 'budget_exceeded'],
    ['/budgets', 'State', 'all'],
    ['/identity/users', 'Role', 'user'],
  ] as const) {
    await page.goto(`${desk.gateway.url}/console${path}`)
    const field = page.getByLabel(label, { exact: true })
    const clear = page.getByRole('button', { name: 'Clear all' })
    const before = await colorOf(field)
    await field.selectOption(value)
    await clear.waitFor()
    expect({ path, color: await colorOf(field) }).not.toEqual({ path, color: before })
    await clear.click()
    await clear.waitFor({ state: 'hidden' })
    expect({ path, color: await colorOf(field) }).toEqual({ path, color: before })
  }
})

test('an invalid time in the URL is ignored', async () => {
  const page = await desk.open('/requests?occurred_at_start=yesterday')
  for (const [path, table] of [
    ['/requests', 'Requests'],
    ['/mcp/invocations', 'Tool calls'],
    ['/guardrails', undefined],
    ['/audit-log', 'Changes'],
  ] as const) {
    await page.goto(`${desk.gateway.url}/console${path}?occurred_at_start=yesterday`)
    const shown =
      table === undefined
        ? page.getByText('No decisions yet')
        : page.getByRole('table', { name: table, exact: true })
    await shown.waitFor()
    expect({ path, time: await page.getByLabel('Time', { exact: true }).inputValue() }).toEqual({
      path,
      time: '',
    })
  }
})

test('a time that the gateway does not accept is ignored', async () => {
  const page = await desk.open('/account')
  for (const written of ['5', '2026-11-01', 'yesterday']) {
    await page.goto(`${desk.gateway.url}/console/requests?occurred_at_start=${written}`)
    await page.getByText(/^1 – /).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  }
})
