import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { adaKey } from '../harness/gateway.ts'
import { people, testDesk } from './harness.ts'
import { looksRight } from './look.ts'

const asUser = { as: 'user' } as const

async function stat(page: Page, label: string): Promise<{ text: string; exact: string | null }> {
  const box = page.locator('dl > div').filter({ has: page.getByText(label, { exact: true }) })
  const value = box.locator('dd').first()
  return { text: (await value.innerText()).trim(), exact: await value.getAttribute('title') }
}

const desk = testDesk({ requests: 300 })

test('sees usage and cost of their calls', async () => {
  const page = await desk.open('/me/usage', asUser)
  await page.getByRole('table', { name: 'By model' }).waitFor()
  const [sums] = await desk.sql`
      select count(*)::int as requests, sum(e.total_tokens)::int as tokens,
        sum(e.cost_pico_usd)::text as pico
      from accounting.usage_cost_events e join identity.users u on u.id::text = e.user_id
      where u.email = ${people.user.email}`
  expect(sums?.requests).toBeGreaterThan(10)
  expect((await stat(page, 'Requests')).text).toBe(String(sums?.requests))
  const { exact } = await stat(page, 'Spend')
  expect(Number(exact?.slice(1))).toBeCloseTo(Number(sums?.pico) / 1e12, 12)
  expect((await stat(page, 'Tokens')).exact?.replaceAll(',', '')).toBe(String(sums?.tokens))
  const names = await page
    .getByRole('table', { name: 'By model' })
    .locator('tbody td:first-child')
    .allInnerTexts()
  const models = await desk.sql<{ model: string }[]>`
      select distinct e.model_key as model from accounting.usage_cost_events e
      join identity.users u on u.id::text = e.user_id where u.email = ${people.user.email} order by 1`
  expect(names.toSorted()).toEqual(models.map(({ model }) => model))
  await looksRight(page, 'me-usage')
  await page.getByRole('button', { name: '30 days' }).click()
  await page.waitForURL(/days=30/)
})

test('exports only their own charges', async () => {
  const page = await desk.open('/me/usage', asUser)
  await page.getByRole('button', { name: 'FOCUS export' }).click()
  const today = new Date().toISOString().slice(0, 10)
  await page.getByLabel('Last day (UTC)').fill(today)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const text = await Bun.file(await (await download).path()).text()
  const [head = '', ...rows] = text.trim().split('\r\n')
  expect(head).toContain('BilledCost')
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.every((row) => row.includes('Ada'))).toBe(true)
})

test('sees their budgets and what is left', async () => {
  const [user] = await desk.sql`select id from identity.users where email = ${people.user.email}`
  await desk.admin.put('/api/v1/admin/spend/budgets', {
    scope: { kind: 'user', user_id: user?.id },
    cadence: 'monthly',
    amount_usd: '12.5',
  })
  const page = await desk.open('/me/budgets', asUser)
  await page.getByText('This month, all models').waitFor()
  const [row] = await desk.sql`
      select coalesce(sum(spent), 0)::text as spent from accounting.spend_counters
      where scope_key = ${`budget:v1:user:${user?.id}`}
        and utc_day >= date_trunc('month', now() at time zone 'UTC')::date`
  const left = await page.locator('.text-xl').getAttribute('title')
  expect(Number(left?.slice(1))).toBeCloseTo(12.5 - Number(row?.spent) / 1e12, 12)
  await looksRight(page, 'me-budgets')
})

test('rotates and revokes their key', async () => {
  const page = await desk.open('/me/api-keys', asUser)
  const row = page.getByRole('row').filter({ hasText: 'test' })
  await row.getByText('active').waitFor()
  await looksRight(page, 'me-api-keys')
  const small = await desk.open('/me/api-keys', { ...asUser, size: 'tablet' })
  await small.getByRole('row').nth(1).waitFor()
  await looksRight(small, 'me-api-keys-tablet')
  await row.getByRole('button', { name: 'Rotate' }).click()
  await page
    .getByRole('dialog', { name: 'Rotate API key' })
    .getByRole('button', { name: 'Rotate' })
    .click()
  const fresh = await page.getByTestId('issued-key').innerText()
  await page.getByRole('button', { name: 'I have saved this key' }).click()
  const status = async (key: string) =>
    (
      await fetch(`${desk.gateway.url}/v1/models`, {
        headers: { authorization: `Bearer ${key}` },
      })
    ).status
  // The previous secret is valid for a day.
  expect([await status(fresh), await status(adaKey)]).toEqual([200, 200])
  await row.getByRole('button', { name: 'Revoke' }).click()
  await page
    .getByRole('dialog', { name: 'Revoke API key' })
    .getByRole('button', { name: 'Revoke' })
    .click()
  await row.getByText('revoked', { exact: true }).waitFor()
  expect([await status(fresh), await status(adaKey)]).toEqual([401, 401])
})
