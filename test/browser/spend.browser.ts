import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { testDesk } from './harness.ts'
import { looksRight } from './look.ts'

// One call in 2000 is a rejected charge, and the tests need one.
const desk = testDesk({ requests: 20_000 })

interface Sum {
  readonly name: string
  readonly n: number
  readonly pico: string
}

async function stat(page: Page, label: string) {
  const one = page.locator('dl > div').filter({ has: page.getByText(label, { exact: true }) })
  const value = one.locator('dd').first()
  return { text: (await value.innerText()).trim(), exact: await value.getAttribute('title') }
}

/** The first day of the page's window. */
const since = (days: number) =>
  new Date(Math.floor(Date.now() / 86_400_000 + 1 - days) * 86_400_000).toISOString()

test.each([7, 30])('the totals and tables of %p days match the ledger', async (days) => {
  const page = await desk.open(`/spend?days=${days}`)
  await page.getByRole('table', { name: 'Models', exact: true }).waitFor()
  const [all] = await desk.sql`
    select count(*)::int as n, sum(cost_pico_usd)::text as pico,
      count(*) filter (where pricing_status in ('unpriced', 'usage_missing'))::int as lacking
    from accounting.usage_cost_events where dispatched_at >= ${since(days)}`
  expect(picoOf((await stat(page, 'Spend')).exact)).toBe(BigInt(all?.pico))
  expect(numberOf((await stat(page, 'Requests')).text)).toBe(all?.n)
  expect(numberOf((await stat(page, 'Without cost')).text)).toBe(all?.lacking)
  const models = await desk.sql<Sum[]>`
    select model_key as name, count(*)::int as n, coalesce(sum(cost_pico_usd), 0)::text as pico
    from accounting.usage_cost_events where dispatched_at >= ${since(days)}
    group by model_key, resolved_model_key`
  const table = page.getByRole('table', { name: 'Models', exact: true })
  for (const { name, n, pico } of models) {
    const row = table
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name, exact: true }) })
    const cells = row.getByRole('cell')
    expect(picoOf(await cells.nth(1).locator('span').getAttribute('title'))).toBe(BigInt(pico))
    expect(numberOf(await cells.nth(3).innerText())).toBe(n)
  }
  if (days === 7) await looksRight(page, 'spend')
})

test.each(['model', 'owner'])(
  'the days by %s add up to the ledger and link to requests',
  async (by) => {
    const page = await desk.open(`/spend?days=30&by=${by}`)
    const chart = page.getByRole('table', { name: `Spend by day and ${by}` })
    await chart.waitFor({ state: 'attached' })
    expect(await chart.locator('tbody tr').count()).toBe(30)
    const names = page.getByRole('region', { name: 'Spend by day' }).getByRole('listitem')
    const titles = await names
      .locator('span[title]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('title') as string))
    const [all] = await desk.sql`
    select count(*)::int as n, sum(cost_pico_usd)::text as pico
    from accounting.usage_cost_events where dispatched_at >= ${since(30)}`
    const sum = titles.reduce((pico, title) => pico + picoOf(title.split(', ')[0] ?? ''), 0n)
    expect(sum).toBe(BigInt(all?.pico))
    await names.getByRole('link').first().click()
    await page.waitForURL(/\/console\/requests\?/)
    const search = new URL(page.url()).searchParams
    expect(search.get('occurred_at_start')).toBe(since(30))
    expect(
      search.has(by === 'model' ? 'model_key' : 'user_id') || search.has('service_account_id'),
    ).toBe(true)
    await page
      .getByRole('navigation', { name: 'Pagination' })
      .getByText(/of [1-9]/)
      .waitFor()
  },
)

test('models without a price are listed with a fix', async () => {
  const page = await desk.open('/spend?days=30')
  const table = page.getByRole('table', { name: 'Models without a price or without usage' })
  const row = table.getByRole('row').filter({ hasText: 'no-price' })
  await row.waitFor()
  const [lacking] = await desk.sql`
    select count(*)::int as n from accounting.usage_cost_events
    where model_key = 'no-price' and pricing_status = 'unpriced'`
  expect(numberOf(await row.getByRole('cell').nth(1).innerText())).toBe(lacking?.n)
  await row.getByRole('button', { name: 'How to fix' }).click()
  const dialog = page.getByRole('dialog')
  const text = await dialog.locator('pre').innerText()
  expect(text).toContain('pricing_provider_id: "simulator"')
  expect(text).toContain('model: "simulator-free"')
  await looksRight(page, 'spend-fix')
})

test('rejected charges match the database and link to their requests', async () => {
  const [charge] = await desk.sql`
    select request_id, count(*) over ()::int as n from accounting.budget_rejected_charges
    order by occurred_at desc, event_id desc limit 1`
  const page = await desk.open('/spend')
  const table = page.getByRole('table', { name: 'Rejected charges' })
  await table.waitFor()
  await page.getByText(`of ${charge?.n}`, { exact: false }).last().waitFor()
  await table.getByRole('link').first().click()
  await page.waitForURL(new RegExp(`request_id=${charge?.request_id}`))
})

test('the export downloads a file, shows its rows and size, and shows errors', async () => {
  const page = await desk.open('/spend')
  await page.getByRole('button', { name: 'FOCUS export' }).click()
  const dialog = page.getByRole('dialog')
  const coming = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Download CSV' }).click()
  const download = await coming
  const text = readFileSync(await download.path(), 'utf8')
  const rows = text.trimEnd().split('\r\n').length - 1
  const said = await dialog.getByRole('status').innerText()
  expect(said).toContain(download.suggestedFilename())
  expect(said).toContain(`${rows.toLocaleString('en-US')} rows`)
  expect(text.split('\r\n', 1)[0]).toContain(',BilledCost,')
  expect(rows).toBeGreaterThan(0)
  await dialog.getByLabel('First day (UTC)').fill('2026-01-01')
  await dialog.getByRole('button', { name: 'Download CSV' }).click()
  await dialog.getByRole('alert').getByText('at most 90 days').waitFor()
})

test('it is readable on a tablet', async () => {
  const page = await desk.open('/spend', { size: 'tablet' })
  await page.getByRole('table', { name: 'Owners', exact: true }).waitFor()
  await looksRight(page, 'spend-tablet')
})

function numberOf(text: string): number {
  return Number(text.replaceAll(',', ''))
}

function picoOf(amount: string | null): bigint {
  const [whole = '0', fraction = ''] = (amount ?? '').replaceAll(/[$,]/g, '').split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}
