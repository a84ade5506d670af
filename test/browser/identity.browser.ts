import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { eventually } from '../harness/gateway.ts'
import { signIn, testDesk } from './harness.ts'
import { looksRight } from './look.ts'

async function total(page: Page, n: number): Promise<void> {
  await page.getByText(new RegExp(`^1 – \\d+ of ${n}$`)).waitFor()
}

/** The HTTP status of a call with a key. */
async function call(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  return answer.status
}

const desk = testDesk({ requests: 1000, traffic: false })
const HOSTILE = '<img src=x onerror=alert(1)> & "Team"'

test('lists match the database and can be filtered', async () => {
  const [known] = await desk.sql`
      select (select count(*)::int from identity.users) as users,
        (select count(*)::int from identity.users u join identity.team_memberships m
          on m.user_id = u.id join identity.teams t on t.id = m.team_id
          where t.key = 'demo-search') as members,
        (select count(*)::int from identity.teams) as teams,
        (select count(*)::int from identity.service_accounts) as accounts,
        (select count(*)::int from identity.api_keys) as keys`
  const page = await desk.open('/identity/users')
  await total(page, known?.users)
  await looksRight(page, 'users')
  await page.getByRole('combobox', { name: 'Team' }).fill('search')
  await page.getByRole('option', { name: /^Search/ }).click()
  await page.waitForURL(/team_id=/)
  await total(page, known?.members)
  await page.getByLabel('Search name or e-mail').fill('nobody of this name')
  await page.getByText('No matches').waitFor()
  for (const [path, name, count] of [
    ['teams', 'teams', known?.teams],
    ['service-accounts', 'service-accounts', known?.accounts],
    ['api-keys', 'api-keys', known?.keys],
  ] as const) {
    await page.goto(`${desk.gateway.url}/console/identity/${path}`)
    await total(page, count)
    await looksRight(page, name)
  }
})

test('a user is created with a password and a team, edited and disabled', async () => {
  const page = await desk.open('/identity/users')
  await page.getByRole('button', { name: 'New user' }).click()
  const form = page.getByRole('dialog', { name: 'New user' })
  await form.getByLabel('Name').fill('Zoë <b>Newcomer</b>')
  await form.getByLabel('E-mail').fill('zoe@example.com')
  await form.getByLabel('Password').fill('a long enough password')
  await form.getByRole('combobox', { name: 'Team' }).fill('finance')
  await page.getByRole('option', { name: /^Finance/ }).click()
  await form.getByLabel('Model access').selectOption('restricted')
  await form.getByRole('button', { name: '+ tag chat' }).click()
  await looksRight(page, 'user-form')
  await form.getByRole('button', { name: 'Create user' }).click()
  const sheet = page.getByRole('dialog', { name: 'Zoë <b>Newcomer</b>' })
  await sheet.getByText('Finance, member').waitFor()
  const read = () => desk.sql`
      select u.status, u.model_access_mode as mode, u.allowed_models as models, u.role, t.name as team
      from identity.users u left join identity.team_memberships m on m.user_id = u.id
      left join identity.teams t on t.id = m.team_id where email = 'zoe@example.com'`
  expect([...(await read())]).toEqual([
    { status: 'active', mode: 'restricted', models: ['demo'], role: 'user', team: 'Finance' },
  ])
  const theirs = await desk.open('/sign-in', { as: 'nobody' })
  await signIn(theirs, 'zoe@example.com', 'a long enough password')
  await theirs.getByRole('heading', { name: 'My usage' }).waitFor()
  await sheet.getByRole('button', { name: 'Disable' }).click()
  await page.getByText('The user is signed out and all API keys').waitFor()
  await page
    .getByRole('dialog', { name: 'Disable Zoë' })
    .getByRole('button', { name: 'Disable' })
    .click()
  await sheet.getByRole('button', { name: 'Enable' }).waitFor()
  expect((await read())[0]?.status).toBe('disabled')
  await theirs.reload()
  await theirs.getByRole('heading', { name: 'Sign in' }).waitFor()
  await looksRight(page, 'user-sheet')
})

test('a key is created, shown once, rotated and revoked', async () => {
  const page = await desk.open('/identity/api-keys')
  await page.getByRole('button', { name: 'Create API key' }).click()
  const form = page.getByRole('dialog', { name: 'Create API key' })
  await form.getByLabel('Name').fill('laptop <script>')
  await form.getByRole('combobox', { name: 'Owner' }).fill('ada@example.com')
  await page.getByRole('option', { name: /ada@example.com/ }).click()
  await form.getByRole('checkbox', { name: 'demo' }).check()
  await looksRight(page, 'api-key-form')
  await form.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('This key is shown only once').waitFor()
  const first = await page.getByTestId('issued-key').innerText()
  expect(first).toMatch(/^gwk_/)
  expect(await call(desk.gateway.url, first)).toBe(200)
  await page.getByRole('button', { name: 'I have saved this key' }).click()
  await page.getByRole('cell', { name: 'laptop <script>' }).click()
  const sheet = page.getByRole('dialog', { name: 'API key “laptop <script>”' })
  await sheet.getByRole('button', { name: 'Rotate' }).waitFor()
  expect(await page.content()).not.toContain(first.split('.')[1] as string)
  const [row] = await desk.sql`
      select granted_models, model_grant_mode from identity.api_keys where name = 'laptop <script>'`
  expect(row).toEqual({ granted_models: ['demo'], model_grant_mode: 'explicit' })

  await sheet.getByRole('button', { name: 'Rotate' }).click()
  await page.getByLabel('Current secret expires').selectOption('0')
  await page
    .getByRole('dialog', { name: 'Rotate API key' })
    .getByRole('button', { name: 'Rotate' })
    .click()
  await page.getByText('This key is shown only once').waitFor()
  const second = await page.getByTestId('issued-key').innerText()
  expect(second.split('.')[0]).toBe(first.split('.')[0] as string)
  await page.getByRole('button', { name: 'I have saved this key' }).click()
  expect([await call(desk.gateway.url, first), await call(desk.gateway.url, second)]).toEqual([
    401, 200,
  ])
  await looksRight(page, 'api-key-sheet')

  await sheet.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('This cannot be undone').waitFor()
  await page
    .getByRole('dialog', { name: 'Revoke API key' })
    .getByRole('button', { name: 'Revoke' })
    .click()
  await sheet.getByText('revoked', { exact: true }).waitFor()
  expect(await call(desk.gateway.url, second)).toBe(401)
})

test('a team gets a member and a service account with its budget', async () => {
  const page = await desk.open('/identity/teams')
  await page.getByRole('button', { name: 'New team' }).click()
  const form = page.getByRole('dialog', { name: 'New team' })
  await form.getByLabel('Name').fill(HOSTILE)
  await form.getByLabel('Key').fill('hostile')
  await form.getByRole('button', { name: 'Create team' }).click()
  const sheet = page.getByRole('dialog', { name: HOSTILE })
  await sheet.getByRole('combobox', { name: 'Add a user' }).fill('ada@example.com')
  await page.getByRole('option', { name: /ada@example.com/ }).click()
  await sheet.getByLabel('Role of Ada').selectOption('owner')
  await eventually(async () => {
    const [member] = await desk.sql`
      select m.role from identity.team_memberships m join identity.teams t on t.id = m.team_id
      where t.key = 'hostile'`
    return member?.role === 'owner' || undefined
  })
  await looksRight(page, 'team-sheet')
  const [other] = await desk.sql`
    select u.email from identity.users u join identity.team_memberships m on m.user_id = u.id
      join identity.teams t on t.id = m.team_id
    where t.key <> 'hostile' limit 1`
  await sheet.getByRole('combobox', { name: 'Add a user' }).fill(other?.email)
  await page.getByRole('option', { name: other?.email }).click()
  await sheet.getByRole('cell', { name: other?.email }).waitFor()
  await sheet.getByRole('button', { name: 'Delete' }).click()
  await page
    .getByRole('dialog', { name: /^Delete team/ })
    .getByRole('button', { name: 'Delete' })
    .click()
  await page.getByText('the team still has members or service accounts').waitFor()

  await page.goto(`${desk.gateway.url}/console/identity/service-accounts`)
  await page.getByRole('button', { name: 'New service account' }).click()
  const account = page.getByRole('dialog', { name: 'New service account' })
  await account.getByLabel('Name').fill('Robot')
  await account.getByLabel('Key').fill('robot')
  await account.getByRole('combobox', { name: 'Team' }).fill('hostile')
  await page.getByRole('option', { name: /team hostile/ }).click()
  await account.getByRole('button', { name: 'Create service account' }).click()
  await page.getByText('No active budget: all calls are rejected').waitFor()
  await looksRight(page, 'service-account-sheet')
  await page.getByRole('link', { name: 'Create budget' }).click()
  const budget = page.getByRole('dialog', { name: 'New budget' })
  await budget.getByLabel('Amount in USD').fill('7.25')
  await budget.getByRole('button', { name: 'Create budget' }).click()
  await page.getByRole('dialog', { name: 'Budget of Robot' }).getByText('$7.25').first().waitFor()
  expect(await budget.count()).toBe(0)
})
