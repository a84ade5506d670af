import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ended } from '../harness/ended.ts'
import { believable, startUpstream, type Upstream } from '../harness/upstream.ts'
import { browserConfig } from './config.ts'
import { root, testDesk } from './harness.ts'
import { looksRight } from './look.ts'

/*
 * A new gateway: its empty pages and its set-up. Each test continues the one before.
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
  await page.getByText('Add a provider: to do').waitFor()
  await looksRight(page, 'connect-empty')
  for (const [path, words, picture] of [
    ['/requests', 'No requests yet', 'requests-empty'],
    ['/spend', 'No spend yet', 'spend-empty'],
    ['/models', /no traffic/i, 'models-empty'],
    ['/providers', /no attempts/i, 'providers-empty'],
  ] as const) {
    await page.goto(`${desk.gateway.url}/console${path}`)
    await page.getByText(words).first().waitFor()
    await looksRight(page, picture)
  }
})

test('a provider and a model are added in the browser', async () => {
  const page = await desk.open('/models')
  await page.getByRole('button', { name: 'Add provider' }).click()
  const provider = page.getByRole('dialog', { name: 'Add provider' })
  // The gateway's key may be sent to the vendor, but not to another base URL.
  await provider.getByLabel('Type').selectOption({ label: 'Anthropic (anthropic)' })
  const from = provider.getByLabel('API key from')
  expect(await from.locator('option:checked').innerText()).toBe(
    "Use ANTHROPIC_API_KEY from the gateway's environment",
  )
  await provider.getByText('api_key: env.ANTHROPIC_API_KEY').waitFor()
  await looksRight(page, 'add-provider-vendor')
  await provider.getByRole('button', { name: 'More settings' }).click()
  await provider.getByLabel('Base URL').fill(upstream.url)
  await provider.getByLabel('API key', { exact: true }).waitFor()
  await from.waitFor({ state: 'detached' })
  // A vendor needs only a key; other servers need a base URL.
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
  expect(await provider.getByRole('button', { name: 'Add provider' }).isDisabled()).toBe(true)
  await provider.getByLabel('Base URL').fill(upstream.url)
  await provider.getByLabel('API key', { exact: true }).fill(SECRET)
  await provider.getByText('gateway.managed.keys/own.key').waitFor()
  await provider.getByLabel('Price list').fill('simulator')
  await provider.getByText('pricing_provider_id: simulator').waitFor()
  await looksRight(page, 'add-provider')
  await provider.getByRole('button', { name: 'Add provider' }).click()

  const model = page.getByRole('dialog', { name: 'Add model' })
  expect(await model.getByLabel('Provider').inputValue()).toBe('own')
  await model.getByLabel('Upstream model').fill('none')
  await model.getByLabel('Name').fill('demo')
  await model.getByText('is also the id of an entry in').waitFor()
  await model.getByLabel('Upstream model').fill('simulator-1')
  await model.getByLabel('Name').fill('own/*')
  await model.getByText('upstream_model: simulator-1').waitFor()
  await model.getByLabel('Upstream model').fill('*')
  await model.getByText('upstream_model: "*"').waitFor()
  await model.getByRole('button', { name: 'Add model' }).click()
  const row = page
    .getByRole('table', { name: 'Models' })
    .getByRole('row')
    .filter({ hasText: 'own/' })
  await row.getByText('wildcard').waitFor()
  await page.getByText('added the model').waitFor()
  await looksRight(page, 'models-managed')
  expect(await page.content()).not.toContain(SECRET)
})

test('a live check calls each API of the model and shows the results', async () => {
  const page = await desk.open(`/models/${encodeURIComponent('own/*')}`)
  await page.getByRole('dialog').getByRole('button', { name: 'Live check' }).click()
  const check = page.getByRole('dialog', { name: 'Live check' })
  await check.getByLabel('Model name for').fill('simulator-1')
  await check.getByRole('button', { name: 'Run check' }).click()
  const answers = check.getByRole('table', { name: 'Results' })
  await answers.getByText('…', { exact: true }).first().waitFor({ state: 'detached' })
  const chat = answers
    .getByRole('row')
    .filter({ has: page.getByRole('cell', { name: 'chat', exact: true }) })
  await chat.getByText('works').waitFor()
  await chat.getByText(/^\$0\.\d/).waitFor()
  await looksRight(page, 'live-check')
})

test('the page creates a key, and its blocks work as copied', async () => {
  const page = await desk.open('/connect')
  await page.getByRole('button', { name: 'Create key' }).click()
  key = await page.getByTestId('issued-key').innerText()
  await page.getByLabel('Model').selectOption('demo')
  // The blocks of docs/clients.md, with URL, key and model filled in.
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
  for (const step of ['Add a provider', 'Add a model', 'Create an API key', 'Make a first call']) {
    await page.getByText(`${step}: done`).waitFor()
  }
  await page.getByText('Set a budget: to do').waitFor()
  await looksRight(page, 'connect')
})

test('the playground calls the model, and undo removes it', async () => {
  const page = await desk.open('/playground')
  await page.getByLabel('API key').fill(key)
  await page.getByText('available with this key').waitFor()
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
  await page.getByText('No entries yet').waitFor()
  await table.getByRole('row').filter({ hasText: 'own-one' }).waitFor({ state: 'detached' })
})
