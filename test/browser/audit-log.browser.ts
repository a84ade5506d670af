import { beforeAll, expect, test } from 'bun:test'
import { testDesk } from './harness.ts'
import { looksRight } from './look.ts'

const desk = testDesk({ requests: 0 })
const ids = { user: '', team: '' }

beforeAll(async () => {
  const { admin } = desk
  const { team_id } = await admin.post<{ team_id: string }>('/api/v1/admin/teams', {
    key: 'search',
    name: 'Search',
  })
  const { user_id } = await admin.post<{ user_id: string }>('/api/v1/admin/users', {
    name: 'Grace',
    email: 'grace@example.com',
    team: { team_id },
  })
  await admin.patch(`/api/v1/admin/users/${user_id}`, { name: 'Grace H.' })
  await admin.put('/api/v1/admin/spend/budgets', {
    scope: { kind: 'user', user_id },
    cadence: 'daily',
    amount_usd: '12.50',
  })
  Object.assign(ids, { user: user_id, team: team_id })
})

test('changes match the database and can be filtered', async () => {
  const page = await desk.open('/audit-log')
  // Sign-ins appear as they are recorded.
  await page.getByText('sign in', { exact: true }).first().waitFor()
  await looksRight(page, 'audit-log')
  await page.getByLabel('Object', { exact: true }).selectOption('team')
  await page.waitForURL(/object_kind=team/)
  await page.getByText('1 – 1 of 1').waitFor()
  await page.getByLabel('Object', { exact: true }).selectOption('user')
  await page.waitForURL(/object_kind=user/)
  await page.getByLabel('Action').fill('user.update')
  await page.getByText('1 – 1 of 1').waitFor()
  await page.getByRole('combobox', { name: 'Actor' }).fill('grace')
  await page.getByRole('option', { name: /^Grace H\./ }).click()
  await page.getByText('No entries match these filters').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('sign in', { exact: true }).first().waitFor()
})

test('an entry opens by keyboard, shows old and new values, and links to the object', async () => {
  const [entry] = await desk.sql`
    select request_id from audit_log.audit_log where action = 'user.update'`
  const page = await desk.open('/audit-log?action=user.update')
  const row = page.getByRole('table', { name: 'Changes' }).getByRole('row').nth(1)
  await row.getByText('Grace H.').waitFor()
  await row.focus()
  await page.keyboard.press('Enter')
  const sheet = page.getByRole('dialog', { name: 'User: update' })
  await sheet.getByText(String(entry?.request_id), { exact: true }).waitFor()
  const changes = sheet.getByRole('table', { name: 'What changed: changes' })
  const name = changes.getByRole('row').filter({ hasText: 'name' })
  await name.getByText('"Grace"', { exact: true }).waitFor()
  await name.getByText('"Grace H."', { exact: true }).waitFor()
  await looksRight(page, 'audit-entry')
  await sheet.getByRole('link', { name: 'History' }).click()
  await page.waitForURL((url) => url.searchParams.get('object_id') === ids.user)
  await page.getByText('1 – 2 of 2').waitFor()
  await page.getByRole('table', { name: 'Changes' }).getByRole('row').nth(2).click()
  await page.getByRole('link', { name: 'Open', exact: true }).click()
  await page.waitForURL(new RegExp(`/identity/users/${ids.user}$`))
  await page.getByRole('dialog', { name: 'Grace H.' }).waitFor()
})

test('a URL with an invalid ID shows all changes', async () => {
  const page = await desk.open('/audit-log?actor_user_id=nobody')
  await page.getByRole('table', { name: 'Changes' }).getByRole('row').nth(1).waitFor()
  expect(await page.getByRole('combobox', { name: 'Actor' }).inputValue()).toBe('')
})

test('users who are not admins are redirected to their own pages', async () => {
  const page = await desk.open('/audit-log', { as: 'user' })
  await page.waitForURL(/\/me\/usage$/)
})

test('the log shows a new change as soon as it is reopened', async () => {
  const page = await desk.open('/audit-log')
  await page.getByRole('table', { name: 'Changes' }).waitFor()
  await page.getByRole('link', { name: 'Teams' }).click()
  await page.getByRole('button', { name: 'New team' }).click()
  const form = page.getByRole('dialog', { name: 'New team' })
  await form.getByLabel('Name').fill('Auditors')
  await form.getByLabel('Key').fill('auditors')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Auditors' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Audit log' }).click()
  // Sooner than the list refetches by itself.
  await page.getByRole('cell', { name: 'Auditors' }).waitFor({ timeout: 7000 })
})
