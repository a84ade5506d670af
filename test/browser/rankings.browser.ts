import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { testDesk } from './harness.ts'
import { looksRight } from './look.ts'

interface Window {
  readonly window_start: string
  readonly window_end: string
}

async function rows(page: Page, table: string): Promise<string[][]> {
  const found = page.getByRole('table', { name: table, exact: true }).locator('tbody tr')
  return await found.evaluateAll((lines) =>
    lines.map((line) => [...line.querySelectorAll('td')].map((cell) => cell.innerText.trim())),
  )
}

/** The values of a chart, from its table for screen readers. */
async function charted(page: Page): Promise<string[]> {
  return await page.locator('figure table thead th').allInnerTexts()
}

describe('with traffic', () => {
  const desk = testDesk({ requests: 2000, traffic: false })

  test.each(['7d', '31d'])('the leaderboard of %p matches the ledger', async (range) => {
    const { window_start: start, window_end: end } = await desk.admin.get<Window>(
      `/api/v1/admin/observability/leaderboard?range=${range}`,
    )
    const page = await desk.open(`/leaderboard?range=${range}`)
    await page.getByRole('table', { name: 'Users by spend' }).waitFor()
    const expected = await desk.sql<{ name: string; requests: number; dollars: string }[]>`
      select u.name, count(*)::int as requests,
        trim_scale(coalesce(sum(e.cost_pico_usd), 0) / 1e12)::text as dollars
      from accounting.usage_cost_events e join identity.users u on u.id::text = e.user_id
      where e.dispatched_at >= ${start} and e.dispatched_at < ${end}
      group by u.id, u.name order by coalesce(sum(e.cost_pico_usd), 0) desc, 2 desc, 1 limit 30`
    expect(expected.length).toBeGreaterThan(5)
    const shown = await rows(page, 'Users by spend')
    expect(shown.map(([rank, name, , requests]) => [rank, name, requests])).toEqual(
      expected.map((row, n) => [String(n + 1), row.name, row.requests.toLocaleString('en-US')]),
    )
    const exact = await page
      .getByRole('table', { name: 'Users by spend', exact: true })
      .locator('tbody td:nth-child(3)')
      .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title') ?? ''))
    expect(exact.map((text) => Number(text.replaceAll(/[$,]/g, '')))).toEqual(
      expected.map(({ dollars }) => Number(dollars)),
    )
    expect(await charted(page)).toEqual(['Time', ...expected.slice(0, 5).map(({ name }) => name)])
    await page.getByText(/^Users by spend, \d+ \w+ \d{4} – today, UTC$/).waitFor()
    await looksRight(page, `leaderboard-${range}`)
  })

  test('a user in the leaderboard links to their requests', async () => {
    const page = await desk.open('/leaderboard')
    const first = page.getByRole('table', { name: 'Users by spend' }).getByRole('link').first()
    const name = await first.innerText()
    const [user] = await desk.sql`select id from identity.users where name = ${name}`
    await first.click()
    await page.waitForURL(/\/console\/requests\?/)
    expect(new URL(page.url()).searchParams.get('user_id')).toBe(user?.id)
  })

  test.each(['7d', '31d'])('the harnesses of %p match the requests', async (range) => {
    const { window_start: start, window_end: end } = await desk.admin.get<Window>(
      `/api/v1/admin/observability/harness-usage?range=${range}`,
    )
    const page = await desk.open(`/harness-usage?range=${range}`)
    await page.getByRole('table', { name: 'Harnesses by requests' }).waitFor()
    const expected = await desk.sql<{ label: string; requests: number }[]>`
      select agent_harness_label as label, count(*)::int as requests
      from request_log.request_logs where occurred_at >= ${start} and occurred_at < ${end}
      group by 1 order by 2 desc, 1 limit 30`
    expect(expected.length).toBeGreaterThan(3)
    const shown = await rows(page, 'Harnesses by requests')
    expect(shown.map(([, label, requests]) => [label, requests]).sort()).toEqual(
      expected.map(({ label, requests }) => [label, requests.toLocaleString('en-US')]).sort(),
    )
    await looksRight(page, `harness-usage-${range}`)
    const other = range === '7d' ? '31' : '7'
    await page.getByRole('button', { name: `${other} days`, exact: true }).click()
    await page.waitForURL((url) => (url.searchParams.get('range') ?? '7d') === `${other}d`)
  })

  test('a harness links to its requests', async () => {
    const page = await desk.open('/harness-usage')
    const table = page.getByRole('table', { name: 'Harnesses by requests' })
    await table.getByRole('link', { name: 'Claude Code' }).click()
    await page.waitForURL(/\/console\/requests\?/)
    expect(new URL(page.url()).searchParams.get('agent_harness_key')).toBe('claude_code')
    await page.getByRole('textbox', { name: 'Harness' }).waitFor()
  })

  test('an unknown caller is named with one click, and the name is removed', async () => {
    await desk.sql`
      update request_log.request_logs set user_agent = 'HouseBot/' || latency_ms,
        agent_harness_key = 'unknown', agent_harness_label = 'Unknown'
      where id in (select id from request_log.request_logs order by occurred_at desc limit 3)`
    const page = await desk.open('/harness-usage')
    const callers = page.getByRole('table', { name: 'Unknown callers' })
    const row = callers.getByRole('row', { name: /HouseBot/ })
    await row.getByRole('button', { name: 'Name' }).click()
    const name = page.getByRole('textbox', { name: 'Name' })
    expect(await name.inputValue()).toBe('HouseBot')
    await name.fill('House bot')
    await looksRight(page, 'harness-name-form')
    await page.getByRole('button', { name: 'Save' }).click()
    const names = page.getByRole('table', { name: 'Custom names' })
    await names.getByRole('row', { name: /housebot\/.*House bot/ }).waitFor()
    await row.waitFor({ state: 'detached' })
    await names.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await row.waitFor()
    expect(await names.count()).toBe(0)
  })

  test('deleted owners are shown as deleted, not by ID', async () => {
    const [first] = await desk.sql`
      select owner_id as id from accounting.usage_rollups where owner_kind = 'user'
      group by 1 order by sum(cost_pico_usd) desc limit 1`
    await desk.sql`update accounting.usage_rollups set owner_id = 'gone' where owner_id = ${first?.id}`
    await desk.sql`
      update request_log.traffic_rollups set key = 'user:gone' where key = ${`user:${first?.id}`}`
    const page = await desk.open('/leaderboard?range=31d')
    await page.getByRole('link', { name: 'deleted user' }).waitFor()
    await page.goto(`${desk.gateway.url}/console/?range=31d`)
    await page.getByRole('tab', { name: 'Owners' }).click()
    const panel = page.getByRole('tabpanel')
    await panel.getByRole('link', { name: 'deleted owner' }).first().waitFor()
    expect(await page.getByText('gone', { exact: true }).count()).toBe(0)
  })
})

describe('without traffic', () => {
  const desk = testDesk({ requests: 0 })

  test.each([
    ['/leaderboard', 'No spend in this period'],
    ['/harness-usage', 'No requests in this period'],
  ])('%p says what to do', async (path, words) => {
    const page = await desk.open(path)
    await page.getByText(words).waitFor()
    await looksRight(page, `${path.slice(1)}-empty`)
  })
})
