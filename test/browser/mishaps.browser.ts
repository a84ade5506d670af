import { expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { eventually } from '../harness/gateway.ts'
import { testDesk } from './harness.ts'

/** Stray clicks, a slow network or an unreachable gateway must not lose a user's work. */
const desk = testDesk({ requests: 300, traffic: false })

const hasFocus = (it: Locator) => it.evaluate((element) => element === document.activeElement)
const topOf = (table: Locator) => table.evaluate((it) => it.parentElement?.scrollTop)

/** Presses the mouse at one point and releases it at another. */
async function drag(page: Page, from: readonly [number, number], to: readonly [number, number]) {
  await page.mouse.move(...from)
  await page.mouse.down()
  await page.mouse.move(...to, { steps: 5 })
  await page.mouse.up()
}

test('a form focuses its first field, and stays open on a click or release outside', async () => {
  const page = await desk.open('/identity/users')
  await page.getByRole('button', { name: 'New user' }).click()
  const form = page.getByRole('dialog', { name: 'New user' })
  const name = form.getByLabel('Name')
  expect(await hasFocus(name)).toBe(true)
  await name.fill('A user with a name to select')
  const box = await name.boundingBox()
  if (box === null) throw new Error('the field is not seen')
  const y = box.y + box.height / 2
  await drag(page, [box.x + 100, y], [20, y])
  await page.mouse.click(20, y)
  expect(await name.inputValue()).toBe('A user with a name to select')
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'hidden' })
})

test('a sheet closes on a click outside, but not when a selection ends outside', async () => {
  const page = await desk.open('/identity/users')
  await page.getByRole('cell', { name: 'ada@example.com' }).click()
  const sheet = page.getByRole('dialog', { name: 'Ada' })
  const box = await sheet.getByText('with a password').boundingBox()
  if (box === null) throw new Error('the text is not seen')
  await drag(page, [box.x + 60, box.y + 5], [20, box.y + 5])
  expect(await sheet.isVisible()).toBe(true)
  await page.mouse.click(20, 400)
  await sheet.waitFor({ state: 'hidden' })
})

test('the back button does not reopen a closed sheet', async () => {
  const page = await desk.open('/identity/users')
  await page.getByRole('cell', { name: 'ada@example.com' }).click()
  await page.getByRole('dialog', { name: 'Ada' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Teams' }).click()
  await page.getByRole('heading', { name: 'Teams' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Users' }).waitFor()
  await page.goBack()
  await page.waitForTimeout(300)
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('a text of a row can be selected without opening the row', async () => {
  const page = await desk.open('/identity/users')
  const box = await page.getByRole('cell', { name: 'ada@example.com' }).boundingBox()
  if (box === null) throw new Error('the cell is not seen')
  const y = box.y + box.height / 2
  await drag(page, [box.x + 13, y], [box.x + 100, y])
  expect(await page.evaluate(() => String(document.getSelection()))).toStartWith('ada@')
  expect(new URL(page.url()).pathname).toBe('/console/identity/users')
})

test('typed letters stay in place, however late the URL follows', async () => {
  const page = await desk.open('/identity/users')
  const search = page.getByLabel('Search name or e-mail')
  await search.click()
  await page.keyboard.type('abcdef')
  for (let n = 0; n < 3; n++) await page.keyboard.press('ArrowLeft')
  await page.keyboard.type('XYZ')
  expect(await search.inputValue()).toBe('abcXYZdef')
  await page.waitForURL(/search=abcXYZdef/)
  await page.getByRole('button', { name: 'Clear all' }).click()
  await page.waitForURL((url) => url.search === '')
  expect(await search.inputValue()).toBe('')
})

test('Enter chooses no user before the search has finished', async () => {
  const page = await desk.open('/identity/api-keys')
  await page.getByRole('button', { name: 'Create API key' }).click()
  const owner = page.getByRole('dialog').getByRole('combobox', { name: 'Owner' })
  await owner.click()
  const options = page.getByRole('listbox').getByRole('option')
  await options.first().waitFor()
  const answered = Promise.withResolvers<void>()
  await page.route('**/api/v1/admin/users?*', async (route) => {
    await answered.promise
    await route.continue()
  })
  await owner.fill('ada@example.com')
  await owner.press('Enter')
  expect(await owner.inputValue()).toBe('ada@example.com')
  answered.resolve()
  await eventually(async () => (await owner.inputValue()) === 'Ada' || undefined)
})

test('toasts are shown above open dialogs', async () => {
  const page = await desk.open('/identity/users')
  await page.getByRole('cell', { name: 'ada@example.com' }).click()
  const sheet = page.getByRole('dialog', { name: 'Ada' })
  await sheet.getByRole('button', { name: 'Disable' }).click()
  const question = page.getByRole('dialog', { name: 'Disable Ada?' })
  await question.getByRole('button', { name: 'Disable' }).click()
  const said = page.getByText('Ada disabled')
  await said.waitFor()
  const onTop = await said.evaluate((it) => it.closest('[popover]')?.matches(':popover-open'))
  expect(onTop).toBe(true)
  await sheet.getByRole('button', { name: 'Enable' }).click()
  await page
    .getByRole('dialog', { name: /^Enable/ })
    .getByRole('button', { name: 'Enable' })
    .click()
  await page.getByText('Ada enabled').waitFor()
})

test('the next page starts at its top, the last one keeps the focus, and one beyond says so', async () => {
  const page = await desk.open('/requests?page=2')
  const table = page.getByRole('table', { name: 'Requests', exact: true })
  const pages = page.getByRole('navigation', { name: 'Pagination' })
  const next = pages.getByRole('button', { name: 'Next page' })
  await pages.getByText('101 – 200 of 300').waitFor()
  await table.evaluate((it) => it.parentElement?.scrollTo(0, 9999))
  await next.focus()
  await page.keyboard.press('Enter')
  await pages.getByText('201 – 300 of 300').waitFor()
  expect(await topOf(table)).toBe(0)
  expect(await hasFocus(next)).toBe(true)
  expect(await next.isDisabled()).toBe(true)
  await page.goto(`${desk.gateway.url}/console/requests?page=9`)
  await pages.getByText('Page 9 is empty; the last page is 3').waitFor()
  expect(await page.getByText('No requests yet').count()).toBe(0)
  await pages.getByRole('button', { name: 'Previous page' }).click()
  await pages.getByText('201 – 300 of 300').waitFor()
})

test('a console that failed to start starts after Retry', async () => {
  const page = await desk.open('/account')
  // React logs the error that the page shows.
  await page.addInitScript(() => Object.assign(console, { error: () => {} }))
  await page.route('**/api/v1/auth/session', (route) =>
    route.fulfill({ status: 503, json: { error: { message: 'the database is away', code: '' } } }),
  )
  await page.goto(`${desk.gateway.url}/console/budgets`)
  await page.getByRole('alert').getByText('the database is away').waitFor()
  await page.unroute('**/api/v1/auth/session')
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByRole('heading', { name: 'Budgets' }).waitFor()
})

test('a page that is not loaded yet waits for the gateway', async () => {
  const page = await desk.open('/account')
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Leaderboard' }).click()
  await page.getByText('Connection lost').waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByRole('heading', { name: 'Leaderboard' }).waitFor()
  await page.getByText('Connection lost').waitFor({ state: 'detached' })
})

test('owners with the same name are all shown, and only for their days', async () => {
  const rows = await desk.sql`
    update identity.users set name = 'Namesake' where id in (
      select user_id::uuid from accounting.usage_cost_events where user_id is not null)
      and get_byte(uuid_send(id), 15) % 2 = 0
    returning id`
  expect(rows.length).toBeGreaterThan(1)
  const page = await desk.open('/spend?by=owner&days=30')
  const names = page
    .getByRole('region', { name: 'Spend by day' })
    .getByRole('listitem')
    .filter({ hasText: '$' })
  await names.first().waitFor()
  const answer = page.waitForResponse((it) => /\/spend\/daily\?.*days=7/.test(it.url()))
  await page.getByRole('button', { name: '7 days' }).click()
  const { data } = (await (await answer).json()) as { data: { series: unknown[] } }
  await page.waitForLoadState('networkidle')
  expect(await names.count()).toBe(data.series.length)
})

test('a time can be typed, and is applied when it is complete', async () => {
  const page = await desk.open('/requests?occurred_at_start=2026-11-01T00:00:00.000Z')
  const from = page.getByLabel('Time: from')
  await from.focus()
  await page.keyboard.type('02032026')
  expect(await from.inputValue()).toBe('2026-02-03T00:00')
  expect(page.url()).toContain('2026-11-01')
  await page.keyboard.press('Enter')
  await page.waitForURL(/occurred_at_start=2026-02-03T00%3A00/)
})

test('a new page starts at its top; back and reload restore the scroll position', async () => {
  const page = await desk.open('/spend')
  const main = page.locator('#main')
  const place = () => main.evaluate((it) => it.scrollTop)
  await page.getByText('calls were served but not charged').waitFor()
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByRole('table', { name: 'Models', exact: true }).waitFor()
  await main.evaluate((it) => it.scrollTo(0, 300))
  await page.getByRole('link', { name: 'Spend', exact: true }).click()
  await page.getByRole('heading', { name: 'Spend', exact: true }).waitFor()
  await eventually(async () => (await place()) === 0 || undefined)
  await page.goBack()
  await eventually(async () => (await place()) === 300 || undefined)
  await page.reload()
  await eventually(async () => (await place()) === 300 || undefined)
})

test('a user sees their new name, and without the admin role no admin pages', async () => {
  const { admin, sql } = desk
  const [ada] = await sql`select id from identity.users where email = 'ada@example.com'`
  await admin.patch(`/api/v1/admin/users/${ada?.id}`, { role: 'platform_admin' })
  const page = await desk.open('/identity/users', { as: 'user' })
  await page.getByRole('cell', { name: 'ada@example.com' }).click()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('dialog', { name: 'Edit Ada' }).getByLabel('Name').fill('Ada Lovelace')
  await page.keyboard.press('Enter')
  await page.getByRole('complementary').getByText('Ada Lovelace').waitFor({ state: 'attached' })
  await admin.patch(`/api/v1/admin/users/${ada?.id}`, { role: 'user' })
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Budgets', exact: true }).click()
  await page.getByRole('heading', { name: 'My usage' }).waitFor()
  expect(await page.getByRole('link', { name: 'Budgets', exact: true }).count()).toBe(0)
})

test('copied rows paste into a spreadsheet like the table', async () => {
  const page = await desk.open('/identity/users?search=example.com')
  await page.context().grantPermissions(['clipboard-read'])
  const table = page.getByRole('table', { name: 'Users' })
  await table.getByText('ada@example.com').waitFor()
  await table.evaluate((it) => document.getSelection()?.selectAllChildren(it))
  await page.keyboard.press('Control+C')
  const [head, ...rows] = (await page.evaluate(() => navigator.clipboard.readText())).split('\n')
  expect(head).toStartWith('Name\tE-mail\tTeam\tStatus\t')
  expect(rows.find((row) => row.includes('ada@'))).toMatch(
    /^Ada[^\t]*\tada@example.com\tnone\tactive\t/,
  )
})

test('a form is submitted once, however often Enter is pressed', async () => {
  const page = await desk.open('/identity/teams')
  await page.getByRole('button', { name: 'New team' }).click()
  const form = page.getByRole('dialog', { name: 'New team' })
  await form.getByLabel('Name').fill('Twice')
  await form.getByLabel('Key').fill('twice')
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.url())
  })
  await Promise.all([page.keyboard.press('Enter'), page.keyboard.press('Enter')])
  await page.getByRole('dialog', { name: 'Twice' }).waitFor()
  expect(sent).toHaveLength(1)
})

test('the error of a long form is visible in a small window', async () => {
  const page = await desk.open('/identity/users', { size: 'phone' })
  await page.setViewportSize({ width: 390, height: 600 })
  await page.getByRole('button', { name: 'New user' }).click()
  const form = page.getByRole('dialog', { name: 'New user' })
  await form.getByLabel('E-mail').fill('ada@example.com')
  await form.getByLabel('Name').fill('Another Ada')
  await page.keyboard.press('Enter')
  const refusal = form.getByText('another user has this e-mail address')
  await refusal.waitFor()
  const seen = await refusal.evaluate((it) => {
    const { left, top } = it.getBoundingClientRect()
    return document.elementFromPoint(left + 1, top + 1) === it
  })
  expect(seen).toBe(true)
  expect(await form.getByLabel('Name').inputValue()).toBe('Another Ada')
})
