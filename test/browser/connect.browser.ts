import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ended } from '../harness/ended.ts'
import { believable, startUpstream, type Upstream } from '../harness/upstream.ts'
import { browserConfig } from './config.ts'
import { root, testDesk } from './harness.ts'
import { looksRight } from './look.ts'

/*
 * A gateway on which nothing has happened yet: what it says, and how it is made to serve. The tests
 * follow on each other.
 */

const [price] = browserConfig.pricing.overrides
const desk = testDesk({
  requests: 0,
  config: { pricing: { overrides: [{ ...price, cache_read_usd_per_million: '0.1' }] } },
  env: { ANTHROPIC_API_KEY: 'sk-ant-of-the-operator' },
})
const SECRET = 'sk-pasted-0123456789'
let upstream: Upstream
let key: string

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.always(believable())
})
afterAll(() => upstream.stop())

test('an empty gateway says what to do next', async () => {
  const page = await desk.open('/')
  await page.waitForURL(/\/connect$/)
  await page.getByText('0 of 6 done').waitFor({ state: 'detached' })
  await page.getByText('A provider: to do').waitFor()
  await looksRight(page, 'connect-empty')
  for (const [path, words, picture] of [
    ['/requests', 'No requests yet', 'requests-empty'],
    ['/spend', 'Nothing in the ledger yet', 'spend-empty'],
    ['/models', /no attempts/i, 'models-empty'],
    ['/providers', /no attempts/i, 'providers-empty'],
  ] as const) {
    await page.goto(`${desk.gateway.url}/console${path}`)
    await page.getByText(words).first().waitFor()
    await looksRight(page, picture)
  }
})

test('a provider and a model of it are added in the browser', async () => {
  const page = await desk.open('/models')
  await page.getByRole('button', { name: 'Add provider' }).click()
  const provider = page.getByRole('dialog', { name: 'Add a provider' })
  // The vendor may have the gateway's key, and another address may not.
  await provider.getByLabel('Type').selectOption({ label: 'Anthropic (anthropic)' })
  const from = provider.getByLabel('API key from')
  expect(await from.locator('option:checked').innerText()).toBe(
    "Use ANTHROPIC_API_KEY of the gateway's environment",
  )
  await provider.getByText('api_key: env.ANTHROPIC_API_KEY').waitFor()
  await looksRight(page, 'add-provider-vendor')
  await provider.getByRole('button', { name: 'More settings' }).click()
  await provider.getByLabel('Base URL').fill(upstream.url)
  await provider.getByLabel('API key', { exact: true }).waitFor()
  await from.waitFor({ state: 'detached' })
  // A vendor needs its key alone, and other servers their address.
  await provider.getByLabel('Type').selectOption({ label: 'OpenAI (openai)' })
  await provider.getByText('set api_key: env.OPENAI_API_KEY').waitFor()
  await provider.getByLabel('Type').selectOption('generic_compat')
  await provider.getByLabel('ID', { exact: true }).fill('own')
  await provider.getByLabel('Base URL').fill('127.0.0.1')
  await provider
    .getByText('must match')
    .or(provider.getByText(/^is not valid/))
    .first()
    .waitFor()
  expect(await provider.getByRole('button', { name: 'Add the provider' }).isDisabled()).toBe(true)
  await provider.getByLabel('Base URL').fill(upstream.url)
  await provider.getByLabel('API key', { exact: true }).fill(SECRET)
  await provider.getByText('gateway.managed.keys/own.key').waitFor()
  await provider.getByLabel('Price list').fill('simulator')
  await provider.getByText('pricing_provider_id: simulator').waitFor()
  await looksRight(page, 'add-provider')
  await provider.getByRole('button', { name: 'Add the provider' }).click()

  const model = page.getByRole('dialog', { name: 'Add a model' })
  expect(await model.getByLabel('Provider').inputValue()).toBe('own')
  await model.getByLabel('Upstream model').fill('none')
  await model.getByLabel('Name').fill('demo')
  await model.getByText('is also the id of an entry in').waitFor()
  await model.getByLabel('Upstream model').fill('simulator-1')
  await model.getByLabel('Name').fill('own/*')
  await model.getByText('upstream_model: simulator-1').waitFor()
  await model.getByLabel('Upstream model').fill('*')
  await model.getByText('upstream_model: "*"').waitFor()
  await model.getByRole('button', { name: 'Add the model' }).click()
  const row = page
    .getByRole('table', { name: 'Models' })
    .getByRole('row')
    .filter({ hasText: 'own/' })
  await row.getByText('wildcard').waitFor()
  await page.getByText('added the model').waitFor()
  await looksRight(page, 'models-managed')
  expect(await page.content()).not.toContain(SECRET)
})

test('a live check of it makes a call with each API, and says what came back', async () => {
  const page = await desk.open(`/models/${encodeURIComponent('own/*')}`)
  await page.getByRole('dialog').getByRole('button', { name: 'Live check' }).click()
  const check = page.getByRole('dialog', { name: 'Live check' })
  await check.getByLabel('In the place of').fill('simulator-1')
  await check.getByRole('button', { name: 'Make the calls' }).click()
  const answers = check.getByRole('table', { name: 'What came back' })
  await answers.getByText('…', { exact: true }).first().waitFor({ state: 'detached' })
  const chat = answers
    .getByRole('row')
    .filter({ has: page.getByRole('cell', { name: 'chat', exact: true }) })
  await chat.getByText('works').waitFor()
  await chat.getByText(/^\$0\.\d/).waitFor()
  await looksRight(page, 'live-check')
})

test('the page gives a key, and a block that works with it as it is copied', async () => {
  const page = await desk.open('/connect')
  await page.getByRole('button', { name: 'Make a key' }).click()
  key = await page.getByTestId('issued-key').innerText()
  await page.getByLabel('Model').selectOption('demo')
  // Run as docs/clients.md has them, with address, key and model filled in.
  for (const client of ['openai for Node', 'anthropic for Node']) {
    await page.getByRole('tab', { name: client }).click()
    const block = await page.locator('pre').innerText()
    const child = Bun.spawn([process.execPath, '-'], {
      cwd: root,
      stdin: new Blob([block]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const { out, err, code } = await ended(child)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('Say hello.')
  }
  for (const step of ['A provider', 'A model', 'An API key', 'A first call']) {
    await page.getByText(`${step}: done`).waitFor()
  }
  await page.getByText('A budget: to do').waitFor()
  await looksRight(page, 'connect')
})

test('the playground calls it, and undone it is gone', async () => {
  const page = await desk.open('/playground')
  await page.getByLabel('API key').fill(key)
  await page.getByText('that this key may use').waitFor()
  await desk.admin.post('/api/v1/admin/managed-config/undo')
  await desk.admin.post('/api/v1/admin/managed-config/models', {
    model: { id: 'own-one', routes: [{ provider: 'own', upstream_model: 'simulator-1' }] },
  })
  await page.reload()
  await page.getByLabel('API key').fill(key)
  await page.getByLabel('Model').selectOption('own-one')
  await page.getByLabel('User').fill('hello')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('done', { exact: true }).waitFor()
  expect(upstream.journal.calls.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`)

  await page.goto(`${desk.gateway.url}/console/models`)
  const table = page.getByRole('table', { name: 'Models' })
  for (const what of ['added the model', 'added the provider']) {
    await page.getByText(what).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    const confirm = page.getByRole('dialog', { name: 'Undo this change?' })
    await confirm.getByRole('button', { name: 'Undo' }).click()
    await confirm.waitFor({ state: 'hidden' })
    await page.getByText(what).waitFor({ state: 'detached' })
  }
  await page.getByText('Nothing has been added yet').waitFor()
  await table.getByRole('row').filter({ hasText: 'own-one' }).waitFor({ state: 'detached' })
})
