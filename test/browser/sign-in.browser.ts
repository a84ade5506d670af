import { expect, test } from 'bun:test'
import { people, signIn, testDesk } from './harness.ts'
import { looksRight } from './look.ts'

// Some requests, because an empty gateway starts on another page.
const desk = testDesk({ requests: 0, traffic: true })

test('signing in opens the requested page, and signing out opens the sign-in page', async () => {
  const page = await desk.open('/budgets?status=inactive', { as: 'nobody' })
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await looksRight(page, 'sign-in')
  await signIn(page, people.admin.email, people.admin.password)
  await page.waitForURL('**/console/budgets?status=inactive')
  const [{ sessions }] = (await desk.sql`
    select count(*)::int as sessions from identity.user_sessions s
    join identity.users u on u.id = s.user_id where u.email = ${people.admin.email}`) as unknown as [
    { sessions: number },
  ]
  expect(sessions).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL('**/console/sign-in')
  await page.goto(`${desk.gateway.url}/console/budgets`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('a wrong password shows an error with the request ID', async () => {
  const page = await desk.open('/', { as: 'nobody' })
  const answer = page.waitForResponse('**/api/v1/auth/login')
  await signIn(page, people.admin.email, 'not this one at all')
  const requestId = (await answer).headers()['x-request-id'] as string
  const alert = page.getByRole('alert')
  await alert.waitFor()
  expect(await alert.innerText()).toContain(requestId)
  expect(page.url()).toContain('/sign-in')
})

test('after signing in, `next` opens only pages of the console', async () => {
  for (const next of ['//evil.example/', '/\\evil.example', 'https://evil.example/']) {
    const page = await desk.open(`/sign-in?next=${encodeURIComponent(next)}`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(new URL(page.url()).origin).toBe(desk.gateway.url)
    await page.context().close()
  }
})

test('an expired session asks for the password and keeps unsaved input', async () => {
  const page = await desk.open('/identity/users')
  await page.getByRole('button', { name: 'New user' }).click()
  const form = page.getByRole('dialog', { name: 'New user' })
  await form.getByLabel('Name').fill('Grace')
  await form.getByLabel('E-mail').fill('grace@example.com')
  await desk.sql`delete from identity.user_sessions`
  await form.getByRole('button', { name: 'Create user' }).click()
  const door = page.getByRole('dialog', { name: 'Your session has expired' })
  expect(await door.getByLabel('E-mail').inputValue()).toBe(people.admin.email)
  await looksRight(page, 'session-ended')
  expect(await form.getByLabel('Name').isVisible()).toBe(false)
  await door.getByLabel('Password').fill('not this one at all')
  await page.keyboard.press('Enter')
  await door.getByRole('alert').waitFor()
  await door.getByLabel('Password').fill(people.admin.password)
  await page.keyboard.press('Enter')
  await door.waitFor({ state: 'hidden' })
  await form.getByRole('button', { name: 'Create user' }).click()
  await page.getByRole('dialog', { name: 'Grace' }).getByText('grace@example.com').waitFor()
})

test('unsaved input is kept if the session expires while the gateway is down', async () => {
  const page = await desk.open('/identity/users')
  await page.getByRole('button', { name: 'New user' }).click()
  const form = page.getByRole('dialog', { name: 'New user' })
  await form.getByLabel('Name').fill('Hedy')
  await form.getByLabel('E-mail').fill('hedy@example.com')
  await page.context().setOffline(true)
  await form.getByRole('button', { name: 'Create user' }).click()
  await form.getByText('cannot be reached').waitFor()
  await desk.sql`delete from identity.user_sessions`
  await page.context().setOffline(false)
  const door = page.getByRole('dialog', { name: 'Your session has expired' })
  await door.getByLabel('Password').fill(people.admin.password)
  await page.keyboard.press('Enter')
  await door.waitFor({ state: 'hidden' })
  expect(await form.getByLabel('Name').inputValue()).toBe('Hedy')
})

test('canceling the sign-in dialog opens the sign-in page, which returns to the same page', async () => {
  const page = await desk.open('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  // Pending requests would notice the expired session by themselves.
  await page.waitForLoadState('networkidle')
  await desk.sql`delete from identity.user_sessions`
  await page.getByRole('button', { name: '31 days' }).click()
  await page.getByRole('dialog', { name: 'Your session has expired' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.getByText('Overview').count()).toBe(0)
  await signIn(page, people.admin.email, people.admin.password)
  await page.waitForURL('**/console/?range=31d')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
})

test('the back button on the first page does not open the sign-in page', async () => {
  const page = await desk.open('/account')
  await page.getByRole('heading', { name: 'Account' }).waitFor()
  await page.goBack()
  expect(page.url()).not.toContain('/sign-in')
})

test('users who are not admins see only their own pages', async () => {
  const page = await desk.open('/budgets', { as: 'user' })
  await page.getByRole('heading', { name: 'My usage' }).waitFor()
  const links = await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link')
    .allInnerTexts()
  expect(links).toEqual(['Connect', 'Playground', 'My usage', 'My budgets', 'My keys'])
})

test('a new password ends other sessions and replaces the old one', async () => {
  const other = await desk.open('/account', { as: 'user' })
  const page = await desk.open('/account', { as: 'user' })
  await page.getByRole('heading', { name: 'Account' }).waitFor()
  await looksRight(page, 'account')
  await page.getByLabel('Current password').fill(people.user.password)
  await page.getByLabel('New password', { exact: true }).fill('a wholly different one')
  await page.getByLabel('Confirm new password').fill('a wholly different one')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed').waitFor()
  await other.reload()
  await other.getByRole('heading', { name: 'Sign in' }).waitFor()
  await signIn(other, people.user.email, 'a wholly different one')
  await other.getByRole('heading', { name: 'Account' }).waitFor()
})

test('an unknown page shows “Page not found”', async () => {
  const page = await desk.open('/sign-in')
  await page.goto(`${desk.gateway.url}/console/nothing/here`)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await looksRight(page, 'not-found')
})

test('a lost connection is shown, and the page continues after a reconnect', async () => {
  const page = await desk.open('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.context().setOffline(true)
  await page.getByRole('button', { name: '31 days' }).click()
  await page.getByText('Connection lost').waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByText('Connection lost').waitFor({ state: 'detached' })
})

test('the command palette opens a page by a few letters, with the keyboard only', async () => {
  const page = await desk.open('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Go to a page or run a command').waitFor()
  await page.keyboard.type('budg')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Budgets' }).waitFor()
})
