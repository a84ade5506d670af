import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { adaKey, eventually } from '../harness/gateway.ts'
import { testDesk } from './harness.ts'
import { looksRight } from './look.ts'

const desk = testDesk()
const TRACED = 'traced-by-the-test'
const KEY = 'gwk_aaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'

interface Count {
  readonly n: number
}

const rowsOf = (page: Page) =>
  page.getByRole('table', { name: 'Requests', exact: true }).getByRole('row')
const total = (page: Page) => page.getByRole('navigation', { name: 'Pagination' })

async function call(body: object, headers: Record<string, string> = {}): Promise<void> {
  const response = await fetch(`${desk.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adaKey}`,
      'content-type': 'application/json',
      'user-agent': 'claude-cli/2.0.0 (external, cli)',
      ...headers,
    },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }], ...body }),
  })
  await response.text()
}

/**
 * A call with tags, tools and a secret, and guardrail decisions and MCP calls with the same request
 * ID.
 */
beforeAll(async () => {
  await call(
    {
      stream: true,
      messages: [{ role: 'user', content: `it's about ${KEY}, please` }],
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
    },
    {
      'x-request-id': TRACED,
      'x-gateway-service': 'shop',
      'x-gateway-env': 'prod',
      'x-gateway-tags': 'run=seven',
    },
  )
  await eventually(async () => {
    const [row] = await desk.sql<Count[]>`
      select count(*)::int as n from request_log.request_logs where request_id = ${TRACED}`
    return row?.n === 1 || undefined
  })
  await desk.sql`
    insert into guardrails.guardrail_decisions (id, occurred_at, request_id, phase, scope, mode,
      evaluator, pack_id, rule_id, action, reason_code, latency_ms, transformation, content_sha256,
      config_version)
    values (gen_random_uuid(), now(), ${TRACED}, 'prompt', 'global', 'audit', 'core.git', 'core.git',
      'force-push', 'audit', 'destructive', 0.4, 'none', ${'0'.repeat(64)}, 'v')`
  await desk.sql`
    insert into mcp_audit.mcp_tool_invocations (id, occurred_at, request_id, owner_kind, user_id,
      api_key_id, server_key, tool_name, status, policy_result, latency_ms, held_until)
    values (gen_random_uuid(), now(), ${TRACED}, 'user', 'u', 'k', 'wiki', 'find_page', 'success',
      'allowed', 12, now())`
})

test('the table and the histogram match the database', async () => {
  const page = await desk.open('/requests')
  await rowsOf(page).nth(5).waitFor()
  const [row] = await desk.sql`
    select count(*)::int as n,
      count(*) filter (where outcome not in ('success', 'client_abort'))::int as errors
    from request_log.request_logs`
  const shown = (n: number) => n.toLocaleString('en-US')
  await total(page)
    .getByText(`1 – 100 of ${shown(row?.n)}`)
    .waitFor()
  await page.getByText(`${shown(row?.n)} requests, ${shown(row?.errors)} errors`).waitFor()
  expect(await rowsOf(page).count()).toBeLessThan(60)
  await looksRight(page, 'requests')
  await total(page).getByRole('button', { name: 'Next page' }).click()
  await page.getByText('101 – 200 of').waitFor()
  expect(page.url()).toContain('page=2')
  await page.reload()
  await page.getByText('101 – 200 of').waitFor()
})

test('filters are in the URL and match the database', async () => {
  const page = await desk.open('/requests')
  await page.getByLabel('Model', { exact: true }).fill('no-price')
  await page.keyboard.press('Enter')
  await page.waitForURL(/model_key=no-price/)
  await total(page).getByText('1 – 1 of 1').waitFor()
  await page.getByRole('button', { name: 'Clear all' }).click()
  await page.getByLabel('Status').selectOption('503')
  const [failed] = await desk.sql<Count[]>`
    select count(*)::int as n from request_log.request_logs where status_code = 503`
  await total(page).getByText(`of ${failed?.n}`, { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Clear all' }).click()
  const [owner] = await desk.sql`
    select u.id, u.name, count(*)::int as n from request_log.request_logs r
    join identity.users u on u.id::text = r.user_id group by 1, 2 order by 3 desc limit 1`
  const chosen = page.getByRole('combobox', { name: 'Owner or team' })
  await chosen.fill(owner?.name)
  await page.getByRole('option', { name: owner?.name }).first().waitFor()
  await chosen.press('Enter')
  await page.waitForURL(new RegExp(`user_id=${owner?.id}`))
  await total(page).getByText(`of ${owner?.n}`).waitFor()
  await eventually(async () => (await chosen.inputValue()) === owner?.name || undefined)
  await page.goto(`${desk.gateway.url}/console/requests?tag_key=run&tag_value=seven&service=shop`)
  await total(page).getByText('1 – 1 of 1').waitFor()
  await page.goto(`${desk.gateway.url}/console/requests?model_key=nothing`)
  await page.getByText('No requests match these filters').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await rowsOf(page).nth(5).waitFor()
})

test('a request shows all its data at its own URL', async () => {
  const page = await desk.open(`/requests?request_id=${TRACED}`)
  await rowsOf(page).nth(1).focus()
  await page.keyboard.press('Enter')
  const sheet = page.getByRole('dialog')
  await sheet.getByText('price list').waitFor()
  // Decisions and MCP calls with the same ID are loaded separately.
  await sheet.getByText('force-push').waitFor()
  await sheet.getByText('find_page').waitFor()
  const [row] = await desk.sql`
    select id, cost_pico_usd::text as pico, total_tokens::int as tokens
    from request_log.request_logs where request_id = ${TRACED}`
  expect(page.url()).toContain(`/console/requests/${row?.id}?request_id=${TRACED}`)
  const cost = await sheet
    .locator('dl > div')
    .filter({ hasText: 'Cost' })
    .locator('dd')
    .first()
    .getAttribute('title')
  expect(picoOf(cost)).toBe(BigInt(row?.pico))
  const text = (await sheet.innerText()).replaceAll(/\s+/g, ' ')
  for (const part of ['Ada', 'demo', 'simulator-1', 'offered 1', 'called 0', 'MCP servers n/a']) {
    expect(text).toContain(part)
  }
  for (const part of ['run=seven', 'service=shop', 'first byte']) {
    expect(text).toContain(part)
  }
  expect(text).toContain('2 redacted')
  expect(text).not.toContain(KEY)
  expect(text).not.toContain(adaKey)
  await looksRight(page, 'request-detail')
  await sheet.getByRole('button', { name: 'cURL' }).click()
  const command = await sheet.locator('pre').innerText()
  expect(command).toContain('Bearer $GATEWAY_API_KEY')
  expect(command).toContain('x-gateway-tags: run=seven')
  await sheet.getByText('Parts of this request were redacted').waitFor()
  await sheet.getByRole('button', { name: 'JSON', exact: true }).click()
  await sheet.getByRole('button', { name: /events: \[/ }).waitFor()
  await page.reload()
  await page.getByRole('dialog').getByRole('link', { name: 'run=seven' }).waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL(/\/console\/requests\?/)
  await total(page).getByText('1 – 1 of 1').waitFor()
})

test('a failed attempt and a missing request show their errors', async () => {
  const [failed] = await desk.sql`
    select l.id, a.error_code as code from request_log.request_logs l
    join request_log.request_log_attempts a on a.request_log_id = l.id
    where l.outcome <> 'success' and a.error_code is not null order by l.occurred_at desc limit 1`
  const page = await desk.open(`/requests/${failed?.id}`)
  await page.getByRole('dialog').getByText(failed?.code).first().waitFor()
  const unknown = '00000000-0000-0000-0000-000000000000'
  await page.goto(`${desk.gateway.url}/console/requests/${unknown}`)
  await page.getByRole('alert').getByText(`request log ${unknown} does not exist`).waitFor()
})

test('the live tail shows new requests and pauses while one is open', async () => {
  const page = await desk.open('/requests?component=tail')
  await page.getByText('No requests match these filters').waitFor()
  await page.getByRole('button', { name: 'Live tail' }).click()
  await page.getByText('live', { exact: true }).waitFor()
  await call({}, { 'x-gateway-component': 'tail' })
  await total(page).getByText('1 – 1 of 1').waitFor()
  await rowsOf(page).nth(1).click()
  await page.keyboard.press('Escape')
  await page.getByText('live', { exact: true }).waitFor()
  await page.goto(`${desk.gateway.url}/console/requests?live=on`)
  await rowsOf(page).nth(5).waitFor()
  await page.mouse.move(700, 700)
  await page.mouse.wheel(0, 400)
  await page.getByText('paused: scrolled down').waitFor()
})

test('a click on a bar of the histogram sets the time range', async () => {
  const page = await desk.open('/requests', { size: 'tablet' })
  await rowsOf(page).nth(5).waitFor()
  const chart = page.locator('.recharts-surface').first()
  const box = await chart.boundingBox()
  const position = { x: (box?.width ?? 0) * 0.8, y: 60 }
  await chart.hover({ position })
  await page.locator('.recharts-tooltip-wrapper').getByText('UTC').waitFor()
  await chart.click({ position })
  await page.waitForURL(/occurred_at_start=.*occurred_at_end=/)
  const search = new URL(page.url()).searchParams
  const [row] = await desk.sql<Count[]>`
    select count(*)::int as n from request_log.request_logs
    where occurred_at >= ${search.get('occurred_at_start') as string}
      and occurred_at < ${search.get('occurred_at_end') as string}`
  await total(page)
    .getByText(`of ${row?.n.toLocaleString('en-US')}`)
    .waitFor()
  await looksRight(page, 'requests-tablet')
})

function picoOf(amount: string | null): bigint {
  const [whole = '0', fraction = ''] = (amount ?? '').replaceAll(/[$,]/g, '').split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}
