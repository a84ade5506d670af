import { expect, test } from 'bun:test'
import { people, testDesk } from './harness.ts'
import { looksRight } from './look.ts'

const desk = testDesk({ requests: 0 })

test.each([
  ['/budgets', 'No budgets yet', 'budgets-empty'],
  ['/budgets?view=alerts', 'No alerts yet', 'budgets-alerts-empty'],
  ['/identity/teams', 'No teams yet', 'teams-empty'],
  ['/identity/service-accounts', 'No service accounts yet', 'service-accounts-empty'],
  ['/identity/users?search=nobody', 'No matches', 'users-empty'],
  ['/identity/api-keys?status=revoked', 'No matches', 'api-keys-empty'],
  ['/me/api-keys', 'No keys yet', 'me-api-keys-empty'],
])('an admin at %p sees what to do', async (path, words, picture) => {
  const page = await desk.open(path)
  await page.getByText(words).waitFor()
  await looksRight(page, picture)
})

test.each([
  ['/me/usage', 'No requests in this period', 'me-usage-empty'],
  ['/me/budgets', 'No budget', 'me-budgets-empty'],
])('a user at %p sees what to do', async (path, words, picture) => {
  const page = await desk.open(path, { as: 'user' })
  await page.getByText(words).waitFor()
  await looksRight(page, picture)
})

test('the last admin stays one, and the page says why', async () => {
  const page = await desk.open('/identity/users')
  await page.getByRole('cell', { name: people.admin.email }).click()
  await page.getByRole('button', { name: 'Disable' }).click()
  const confirm = page.getByRole('dialog', { name: /^Disable/ })
  await confirm.getByRole('button', { name: 'Disable' }).click()
  await confirm.getByText('this is the last platform admin who can sign in').waitFor()
  const [admin] = await desk.sql`
    select status from identity.users where email = ${people.admin.email}`
  expect(admin).toEqual({ status: 'active' })
})
