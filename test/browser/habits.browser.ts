import { beforeAll, expect, test } from 'bun:test'
import type { Route } from 'playwright-core'
import { browserConfig } from './config.ts'
import { testDesk } from './harness.ts'

const SLASHED = 'acme/large-reasoning-model-with-a-name-that-no-column-has-room-for'

const desk = testDesk({
  requests: 300,
  config: {
    models: [
      ...browserConfig.models,
      { id: SLASHED, routes: [{ provider: 'simulator', upstream_model: 'simulator-1' }] },
    ],
  },
})

const away = (route: Route) =>
  route.fulfill({
    status: 503,
    json: { error: { message: 'the database is away', code: 'unavailable' } },
  })

const PERSON = 'Maximiliana Konstantina von und zu Hohenstein-Schwarzburg'
beforeAll(async () => {
  await desk.admin.post('/api/v1/admin/users', { name: PERSON, email: 'max@example.com' })
})

test('truncated texts have a tooltip, and complete ones do not', async () => {
  const page = await desk.open('/identity/users', { size: 'tablet' })
  const table = page.getByRole('table', { name: 'Users' })
  await page.getByLabel('Search name or e-mail').fill('max@')
  const name = table.getByText(PERSON)
  await name.hover()
  expect(await name.getAttribute('title')).toBe(PERSON)
  const email = table.getByText('max@example.com')
  await email.hover()
  expect(await email.getAttribute('title')).toBeNull()
})

test('a model with slashes in its name opens from its row and from its URL', async () => {
  const page = await desk.open('/models')
  await page.getByRole('table', { name: 'Models' }).getByText(SLASHED).click()
  const sheet = page.getByRole('dialog', { name: SLASHED })
  await sheet.getByText('simulator-1').waitFor()
  await page.reload()
  await sheet.getByText('simulator-1').waitFor()
})

test('the menu of a narrow window takes the focus and returns it on Escape', async () => {
  const page = await desk.open('/requests', { size: 'phone' })
  const opener = page.getByRole('button', { name: 'Menu', exact: true })
  await opener.click()
  const menu = page.getByRole('complementary')
  await menu.getByRole('link', { name: 'Budgets', exact: true }).waitFor()
  expect(await menu.evaluate((it) => it.contains(document.activeElement))).toBe(true)
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'hidden' })
  expect(await opener.evaluate((it) => it === document.activeElement)).toBe(true)
})

test('a key can be copied from its dialog without the clipboard API of the browser', async () => {
  const page = await desk.open('/account')
  // As on a plain http address other than localhost.
  await page.addInitScript(() =>
    Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined }),
  )
  await page.goto(`${desk.gateway.url}/console/identity/api-keys`)
  await page.getByRole('button', { name: 'Create API key' }).click()
  const form = page.getByRole('dialog', { name: 'Create API key' })
  await form.getByLabel('Name', { exact: true }).fill('laptop')
  await form.getByRole('combobox', { name: 'Owner' }).fill('max@')
  await page.getByRole('option', { name: PERSON }).click()
  await form.getByLabel('Models', { exact: true }).selectOption({ index: 1 })
  await form.getByRole('button', { name: 'Create key' }).click()
  const issued = page.getByRole('dialog', { name: 'laptop' })
  const secret = await issued.locator('code').first().innerText()
  await issued.getByRole('button', { name: /^Copy/ }).click()
  await issued.getByRole('button', { name: 'I have saved this key' }).click()
  const search = page.getByLabel('Search keys by name')
  await search.focus()
  await page.keyboard.press('Control+V')
  expect(await search.inputValue()).toBe(secret.replaceAll(/\s/g, ''))
})

test('late data does not move the content above it', async () => {
  const page = await desk.open('/account')
  await page.route('**/api/v1/admin/spend/report*', async (route) => {
    await new Promise((done) => setTimeout(done, 1000))
    await route.continue()
  })
  await page.addInitScript(() => {
    Object.assign(window, { shift: 0 })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        ;(window as unknown as { shift: number }).shift += (
          entry as unknown as { value: number }
        ).value
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
  await page.goto(`${desk.gateway.url}/console/spend`)
  await page.getByText('calls were served but not charged').waitFor()
  await page.waitForLoadState('networkidle')
  // From here on, layout shifts count.
  expect(await page.evaluate(() => (window as unknown as { shift: number }).shift)).toBeLessThan(
    0.1,
  )
})

test('a table of times names the time zone, and so does every full time', async () => {
  const page = await desk.open('/requests')
  await page.getByRole('columnheader', { name: 'Time (UTC)' }).waitFor()
  await page.getByText(/, per day$/).waitFor()
  const text = await page.locator('main').innerText()
  expect(text.match(/\d{4}, \d\d:\d\d:\d\d(?! UTC)/)).toBeNull()
})

test('an error in reading the providers’ attempts is shown', async () => {
  const page = await desk.open('/account')
  await page.route('**/api/v1/admin/observability/providers*', away)
  for (const path of ['/providers', '/models']) {
    await page.goto(`${desk.gateway.url}/console${path}`)
    await page.getByRole('alert').getByText('the database is away').waitFor()
  }
})

test('an error in reading the models is shown at the model field', async () => {
  const page = await desk.open('/account')
  await page.route('**/api/v1/admin/models?*', away)
  await page.goto(`${desk.gateway.url}/console/budgets?new=yes&user_id=${desk.admin.userId}`)
  const form = page.getByRole('dialog', { name: 'New budget' })
  await form.getByLabel('Applies to').selectOption('One model')
  await form.getByText('the database is away').waitFor()
})

test('a page prints completely, without navigation', async () => {
  const page = await desk.open('/requests')
  await page.getByRole('button', { name: 'Next page' }).waitFor()
  await page.emulateMedia({ media: 'print' })
  await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Next page' }).waitFor({ state: 'hidden' })
  // In one evaluation, because without the navigation the page has another height.
  const [printed, whole, window] = await page
    .locator('#main')
    .evaluate((it) => [document.documentElement.scrollHeight, it.scrollHeight, innerHeight])
  expect(printed).toBeGreaterThanOrEqual(whole as number)
  expect(whole).toBeGreaterThan(window as number)
})
