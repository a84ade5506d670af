import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { adaKey, eventually } from '../harness/gateway.ts'
import { testDesk } from './harness.ts'
import { looksRight } from './look.ts'

const dollars = (amount: string) => Number(amount.replaceAll(/[$,]/g, ''))

/** The exact amounts of each row, by owner: amount, spent, remaining. */
async function shown(page: Page): Promise<Map<string, number[]>> {
  await page.getByRole('table', { name: 'Budgets' }).getByRole('row').nth(1).waitFor()
  const rows = page.getByRole('table', { name: 'Budgets' }).getByRole('rowgroup').getByRole('row')
  const read = await rows.evaluateAll((list) =>
    list.map((row) => {
      const cells = [...row.querySelectorAll('[role=cell]')]
      const exact = (n: number) => cells[n]?.querySelector('[title]')?.getAttribute('title') ?? ''
      return [
        cells[0]?.querySelector('span > span')?.textContent ?? '',
        exact(2),
        exact(3),
        exact(4),
      ]
    }),
  )
  return new Map(read.map(([name = '', ...amounts]) => [name, amounts.map(dollars)]))
}

const desk = testDesk({ requests: 2000 })

test('the table matches the database', async () => {
  const page = await desk.open('/budgets')
  const rows = await shown(page)
  const known = await desk.sql<{ name: string; amount: number; spent: number; left: number }[]>`
      select coalesce(u.name, s.name) as name, amount_pico_usd::float8 / 1e12 as amount,
        sums.spent::float8 / 1e12 as spent,
        (amount_pico_usd - sums.spent - case when hard_limit then sums.rejected else 0 end)::float8
          / 1e12 as left
      from accounting.budgets b
      left join identity.users u on u.id::text = b.user_id
      left join identity.service_accounts s on s.id::text = b.service_account_id
      cross join lateral (
        select coalesce(sum(spent), 0) as spent, coalesce(sum(rejected), 0) as rejected
        from accounting.spend_counters c where c.scope_key = b.scope_key
          and utc_day >= date_trunc('month', now() at time zone 'UTC')::date
      ) sums
      where b.active`
  expect(known.length).toBeGreaterThan(20)
  expect(rows.size).toBe(known.length)
  for (const { name, amount, spent, left } of known) {
    const [a = 0, s = 0, l = 0] = rows.get(name) ?? []
    expect([name, a.toFixed(9), s.toFixed(9), l.toFixed(9)]).toEqual([
      name,
      amount.toFixed(9),
      spent.toFixed(9),
      left.toFixed(9),
    ])
  }
  await looksRight(page, 'budgets')
  const small = await desk.open('/budgets', { size: 'tablet' })
  await shown(small)
  await looksRight(small, 'budgets-tablet')
})

test('filters narrow the table and are in the URL', async () => {
  const page = await desk.open('/budgets')
  await page.getByLabel('Scope').selectOption('service_account')
  await page.waitForURL(/scope_kind=service_account/)
  const [count] = await desk.sql`
      select count(*)::int as n from accounting.budgets
      where active and scope_kind = 'service_account'`
  await page.getByText(`1 – ${count?.n} of ${count?.n}`).waitFor()
  await page.getByRole('combobox', { name: 'Owner' }).fill('search-api-st')
  await page.getByRole('option', { name: /search-api-staging/ }).click()
  await page.waitForURL(/service_account_id=/)
  await page.getByText('1 – 1 of 1').waitFor()
})

test('a budget shows its burn-down and when it runs out', async () => {
  const [budget] = await desk.sql`
      select b.*, u.name, u.id as owner from accounting.budgets b
      join identity.users u on u.id::text = b.user_id order by amount_pico_usd desc limit 1`
  const page = await desk.open('/budgets')
  await page.getByRole('cell', { name: budget?.name }).click()
  const sheet = page.getByRole('dialog', { name: `Budget of ${budget?.name}` })
  const chart = sheet.locator('figure table tbody tr')
  await chart.first().waitFor({ state: 'attached' })
  const [sums] = await desk.sql`
      select sum(spent)::float8 / 1e12 as spent, count(*)::int as days
      from accounting.spend_counters where scope_key = ${budget?.scope_key}
        and utc_day >= date_trunc('month', now() at time zone 'UTC')::date`
  const left = await chart.evaluateAll((lines) =>
    lines.map((line) => line.querySelectorAll('td')[0]?.textContent ?? ''),
  )
  const known = left.filter((text) => text !== 'n/a').map(dollars)
  expect(known).toHaveLength(new Date().getUTCDate())
  expect(known.at(-1)).toBeCloseTo(Number(budget?.amount_pico_usd) / 1e12 - sums?.spent, 1)
  await sheet.getByText(/average daily spend of the last 7 days/).waitFor()
  await looksRight(page, 'budgets-sheet')
  await sheet.getByRole('link', { name: 'View requests' }).click()
  await page.waitForURL(new RegExp(`/requests\\?user_id=${budget?.owner}`))
})

test('a budget is created by name, raises its alert, and is deactivated', async () => {
  const page = await desk.open('/budgets')
  await page.getByRole('button', { name: 'New budget' }).click()
  const form = page.getByRole('dialog', { name: 'New budget' })
  await form.getByLabel('Owner').fill('ada@example')
  await page.getByRole('option', { name: /ada@example.com/ }).click()
  await form.getByLabel('Applies to').selectOption('One model')
  await form.getByLabel('Model', { exact: true }).fill('demo')
  await form.getByLabel('Amount in USD').fill('0.000000000001')
  await form.getByLabel('Period').selectOption('weekly')
  await looksRight(page, 'budgets-form')
  await form.getByRole('button', { name: 'Create budget' }).click()
  const sheet = page.getByRole('dialog', { name: 'Budget of Ada' })
  await sheet.waitFor()
  const key = await eventually(async () => {
    const [row] = await desk.sql`
        select * from accounting.budgets where scope_key like 'budget:v1:user:%:model:demo'`
    return row
  })
  expect(key).toMatchObject({
    active: true,
    cadence: 'weekly',
    hard_limit: true,
    amount_pico_usd: '1',
    budget_source: 'manual',
  })

  const answer = await fetch(`${desk.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] }),
  })
  await answer.text()
  await eventually(async () => {
    const [row] = await desk.sql`select 1 from accounting.budget_alerts`
    return row
  }, 15_000)
  // The row that a rejecting mail server leaves, with markup in its error.
  await desk.sql`
    update accounting.budget_alert_deliveries set status = 'failed', attempts = 5, sent_at = null,
      last_error = '550 <b>no such box</b>' where recipient = 'ada@example.com'`
  await page.goto(`${desk.gateway.url}/console/budgets?view=alerts&alert_status=failed`)
  const alert = page.getByRole('list', { name: 'Alerts' }).locator(':scope > li').first()
  await alert.getByText('ada@example.com').waitFor()
  await alert.getByText('5 failed attempts').waitFor()
  await alert.getByText('550 <b>no such box</b>').waitFor()
  await looksRight(page, 'budgets-alerts')

  await alert.getByRole('button', { name: 'Ada' }).click()
  await sheet.getByText('used up').first().waitFor()
  await sheet.getByRole('button', { name: 'Deactivate' }).click()
  const confirm = page.getByRole('dialog', { name: 'Deactivate the budget of Ada?' })
  await confirm.getByText('This budget (demo) no longer limits Ada').waitFor()
  await confirm.getByText(/The config file does not bring the budget back/).waitFor()
  await confirm.getByRole('button', { name: 'Deactivate' }).click()
  await sheet.getByRole('button', { name: 'Create again' }).waitFor()
  const [after] = await desk.sql`
      select active, budget_source from accounting.budgets where budget_id = ${key.budget_id}`
  expect(after).toEqual({ active: false, budget_source: 'manual' })
})

test('deactivating the budget of a service account warns that its keys stop working', async () => {
  const page = await desk.open('/budgets?scope_kind=service_account')
  await page.getByRole('cell', { name: 'search-api service account' }).click()
  await page.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('all API keys of search-api stop working').waitFor()
  await looksRight(page, 'budgets-deactivate')
})

test('an amount that the gateway rejects stays in the form, with the request ID', async () => {
  const page = await desk.open('/budgets?scope_kind=service_account')
  await page.getByRole('cell', { name: 'search-api service account' }).click()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.route('**/api/v1/admin/spend/budgets', (route) =>
    route.continue({ postData: '{"scope":{"kind":"team"}}' }),
  )
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').getByText('Request').waitFor()
})

test('changes by another admin are kept, unless the form changes the same field', async () => {
  const scope = { kind: 'user', user_id: desk.admin.userId }
  const put = (settings: object) =>
    desk.admin.put<{ budget_id: string }>('/api/v1/admin/spend/budgets', { scope, ...settings })
  const { budget_id } = await put({ cadence: 'daily', amount_usd: '5', hard_limit: true })
  const page = await desk.open(`/budgets/${budget_id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Amount in USD').fill('7')
  await put({ cadence: 'weekly', amount_usd: '6', hard_limit: false })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Budget saved').waitFor()
  const [row] = await desk.sql`
    select cadence, hard_limit, amount_pico_usd::text as amount from accounting.budgets
    where budget_id = ${budget_id}`
  expect(row).toEqual({ cadence: 'weekly', hard_limit: false, amount: '7000000000000' })
})

test('all alerts of a budget are shown, in pages', async () => {
  const { budget_id } = await desk.admin.put<{ budget_id: string }>('/api/v1/admin/spend/budgets', {
    scope: { kind: 'user_model', user_id: desk.admin.userId, model_id: 'demo' },
    cadence: 'daily',
    amount_usd: '5',
  })
  await desk.sql`
    with alerts as (insert into accounting.budget_alerts (alert_id, budget_id, scope_key, scope_kind, owner_kind,
      owner_id, model_id, cadence, window_start, window_end, threshold_percent, amount_pico_usd,
      spent_pico_usd, remaining_pico_usd, hard_limit, created_at)
    select gen_random_uuid(), budget_id, scope_key, scope_kind, 'user', user_id, 'demo', 'daily',
      current_date - n, current_date - n + 1, 20, 5e12, 4e12, 1e12, true, now() - n * interval '1 day'
    from accounting.budgets, generate_series(1, 70) n where budget_id = ${budget_id}
    returning alert_id)
    insert into accounting.budget_alert_deliveries (delivery_id, alert_id, recipient, status)
    select gen_random_uuid(), alert_id, 'root@example.com', 'failed' from alerts`
  const page = await desk.open(`/budgets/${budget_id}`)
  const sheet = page.getByRole('dialog')
  const pages = sheet.getByRole('navigation', { name: 'Pagination' })
  await pages.getByText('1 – 20 of 70').waitFor()
  for (let n = 0; n < 3; n++) await pages.getByRole('button', { name: 'Next page' }).click()
  await pages.getByText('61 – 70 of 70').waitFor()
  const alerts = sheet.getByRole('list', { name: 'Alerts' }).locator(':scope > li')
  // The previous page stays until this one has loaded.
  await alerts.nth(10).waitFor({ state: 'detached' })
  expect(await alerts.count()).toBe(10)
})
