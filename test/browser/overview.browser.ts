import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { testDesk } from './harness.ts'
import { looksRight } from './look.ts'

const desk = testDesk()

/** The figure under a label. */
async function figure(page: Page, label: string): Promise<string> {
  const stat = page.locator('dl > div').filter({ has: page.getByText(label, { exact: true }) })
  return (await stat.locator('dd').first().innerText()).trim()
}

async function exactFigure(page: Page, label: string): Promise<string | null> {
  const stat = page.locator('dl > div').filter({ has: page.getByText(label, { exact: true }) })
  return await stat.locator('dd').first().getAttribute('title')
}

test.each(['7d', '31d'])('the totals of %p match the tables', async (range) => {
  const answer = await desk.admin.get<{ window_start: string; window_end: string }>(
    `/api/v1/admin/overview?range=${range}`,
  )
  const page = await desk.open(`/?range=${range}`)
  await page.getByRole('tab', { name: 'Models' }).waitFor()
  const { window_start: start, window_end: end } = answer
  const [log] = await desk.sql`
    select count(*)::int as requests from request_log.request_logs
    where occurred_at >= ${start} and occurred_at < ${end}`
  const [ledger] = await desk.sql`
    select sum(cost_pico_usd)::text as pico, sum(total_tokens)::text as tokens
    from accounting.usage_cost_events where dispatched_at >= ${start} and dispatched_at < ${end}`
  expect(await figure(page, 'Requests')).toBe(Number(log?.requests).toLocaleString('en-US'))
  expect(picoOf(await exactFigure(page, 'Spend'))).toBe(BigInt(ledger?.pico))
  expect((await exactFigure(page, 'Tokens'))?.replaceAll(',', '')).toBe(ledger?.tokens)
  await looksRight(page, `overview-${range}`)
})

test('each breakdown adds up to the totals and links to its requests', async () => {
  const page = await desk.open('/?range=31d')
  const total = Number((await figure(page, 'Requests')).replaceAll(',', ''))
  for (const tab of ['Models', 'Providers', 'Owners']) {
    await page.getByRole('tab', { name: tab }).click()
    const table = page.getByRole('table', { name: tab, exact: true })
    const cells = await table.locator('tbody tr td:nth-child(4)').allInnerTexts()
    const sum = cells.reduce((all, cell) => all + Number(cell.replaceAll(',', '')), 0)
    expect({ tab, cells, sum }).toEqual({ tab, cells, sum: total })
  }
  const owner = page.getByRole('table', { name: 'Owners' }).getByRole('link').first()
  const name = await owner.innerText()
  const [known] = await desk.sql`
    select id from identity.users where name = ${name}
    union all select id from identity.service_accounts where name = ${name}`
  await owner.click()
  await page.waitForURL(/\/console\/requests\?/)
  expect(page.url()).toContain(String(known?.id))
})

test('a row links to as many requests as it counts, on its days only', async () => {
  const page = await desk.open('/account')
  for (const tab of ['Models', 'Providers', 'Owners']) {
    await page.goto(`${desk.gateway.url}/console/?range=7d`)
    await page.getByRole('tab', { name: tab }).click()
    const rows = page.getByRole('table', { name: tab, exact: true }).locator('tbody tr')
    const row = rows.filter({ has: page.getByRole('link') }).first()
    const counted = await row.locator('td:nth-child(4)').innerText()
    await row.getByRole('link').click()
    await page.getByText(`${counted} requests,`).waitFor()
  }
})

test('problems are shown with a link to the fix', async () => {
  const page = await desk.open('/?range=31d')
  await page.getByText('requests have no price').waitFor()
  const [{ unpriced }] = (await desk.sql`
    select count(*)::int as unpriced from accounting.usage_cost_events
    where pricing_status = 'unpriced'`) as unknown as [{ unpriced: number }]
  const notice = await page.getByText('requests have no price').innerText()
  expect(Number(notice.split(' ')[0]?.replaceAll(',', ''))).toBe(unpriced)
  await page.getByText('pricing.overrides').waitFor()
  await page.getByRole('heading', { name: 'Budgets about to run out' }).waitFor()
  const attempts = page.getByRole('table', { name: 'Providers in the last 15 minutes' })
  await attempts.getByRole('cell', { name: 'simulator', exact: true }).first().waitFor()
  await page.getByRole('link', { name: 'View in Spend' }).click()
  await page.waitForURL(/\/console\/spend\?days=30/)
})

test('it is readable on a tablet', async () => {
  const page = await desk.open('/', { size: 'tablet' })
  await page.getByRole('tab', { name: 'Models' }).waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(
    true,
  )
  await looksRight(page, 'overview-tablet')
  // A full time, because a text such as “3 s ago” changes.
  await page.getByText(/^Updated \d+ \w+, \d\d:\d\d:\d\d UTC$/).waitFor()
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('link', { name: 'Budgets', exact: true }).click()
  await page.getByRole('heading', { name: 'Budgets' }).waitFor()
})

test('the first view is small and loads fast', async () => {
  const page = await desk.open('/')
  await page.getByRole('tab', { name: 'Models' }).waitFor()
  const began = performance.now()
  await page.reload({ waitUntil: 'commit' })
  await page.getByRole('tab', { name: 'Models' }).waitFor()
  const ms = Math.round(performance.now() - began)
  const script = await page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  )
  console.log(`first view: ${script} bytes of compressed script, complete after ${ms} ms`)
  expect(script).toBeGreaterThan(0)
  expect(script).toBeLessThanOrEqual(300_000)
})

function picoOf(amount: string | null): bigint {
  const [whole = '0', fraction = ''] = (amount ?? '').replaceAll(/[$,]/g, '').split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}
