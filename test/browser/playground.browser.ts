import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { adaKey, eventually, testKey } from '../harness/gateway.ts'
import { browserConfig } from './config.ts'
import { testDesk } from './harness.ts'
import { looksRight } from './look.ts'

const desk = testDesk({
  requests: 0,
  config: {
    providers: [
      ...browserConfig.providers,
      { id: 'slow', type: 'simulator', latency_ms: 20_000, pricing_provider_id: 'simulator' },
    ],
    models: [
      ...browserConfig.models,
      { id: 'slow', routes: [{ provider: 'slow', upstream_model: 'simulator-1' }] },
    ],
  },
})

async function openWithKey(as: 'admin' | 'user' = 'admin'): Promise<Page> {
  const page = await desk.open('/playground', { as })
  await page.getByLabel('API key').fill(adaKey)
  await page.getByText('3 available with this key').waitFor()
  return page
}

const reply = (page: Page) => page.locator('section').filter({ hasText: /^Reply/ })
const written = (page: Page) => page.locator('section').filter({ hasText: /^Recorded/ })

test('without a key it says where to find one, and a wrong key shows the error of the API', async () => {
  const page = await desk.open('/playground')
  await page.getByText('Enter a key to list its models').waitFor()
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
  await looksRight(page, 'playground-empty')
  await page.getByLabel('API key').fill(testKey('nobody'))
  const answer = await fetch(`${desk.gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${testKey('nobody')}` },
  })
  const { error } = (await answer.json()) as { error: { message: string } }
  await page.getByText(error.message).waitFor()
})

test('any temperature and top P can be sent, not only multiples of a step', async () => {
  const page = await openWithKey()
  await page.getByRole('textbox', { name: 'User' }).fill('hello')
  await page.getByLabel('Temperature').fill('0.75')
  await page.getByLabel('Top P').fill('0.99')
  const sent = page.waitForRequest('**/v1/chat/completions')
  await page.getByRole('button', { name: 'Send' }).click()
  expect((await sent).postDataJSON()).toMatchObject({ temperature: 0.75, top_p: 0.99 })
})

const calls = [
  ['Chat', true, 'chat_completions'],
  ['Chat', false, 'chat_completions'],
  ['Responses', true, 'responses'],
  ['Responses', false, 'responses'],
  ['Messages', true, 'messages'],
  ['Messages', false, 'messages'],
] as const

test('each API shows the reply, streaming or not, and what was recorded', async () => {
  const page = await openWithKey()
  await page.getByLabel('Model').selectOption('demo')
  await page.getByRole('textbox', { name: 'System' }).fill('Be brief.')
  await page.getByLabel('Max tokens').fill('200')
  for (const [n, [api, stream, surface]] of calls.entries()) {
    await page.getByRole('button', { name: api, exact: true }).click()
    await page.getByLabel('Stream').setChecked(stream)
    await page.getByLabel('User').fill(`through ${api}, ${n}`)
    await page.getByRole('button', { name: 'Send' }).click()
    await reply(page).getByText(`You said: “through ${api}, ${n}”`).waitFor()
    await reply(page).getByText('done', { exact: true }).waitFor()
    await written(page).getByText('served by').waitFor()
    const requestId = await reply(page).locator('code').first().innerText()
    const [row] = await desk.sql`
      select id, stream, coalesce(metadata_json ->> 'api_surface', operation) as surface,
        cost_pico_usd::text as pico, prompt_tokens::int as input
      from request_log.request_logs where request_id = ${requestId}`
    expect(row).toMatchObject({ stream, surface })
    const text = await written(page).innerText()
    expect(text).toContain(usdOf(row?.pico))
    expect(text).toContain(`Input tokens\n${row?.input}`)
    const link = written(page).getByRole('link', { name: 'Open request' })
    expect(await link.getAttribute('href')).toBe(`/console/requests/${row?.id}`)
  }
  const curl = await page.locator('pre').innerText()
  expect(curl).toContain('$GATEWAY_API_KEY')
  expect(curl).not.toContain(adaKey)
  await looksRight(page, 'playground')
})

test('a reply can be stopped, and continued as a conversation', async () => {
  const page = await openWithKey()
  await page.getByLabel('Model').selectOption('slow')
  await page.getByLabel('User').fill('take your time')
  await page.getByRole('button', { name: 'Send' }).click()
  await reply(page).getByText('running').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await reply(page).getByText('Stopped before any text arrived').waitFor()
  await page.getByLabel('Model').selectOption('demo')
  await page.getByLabel('User').fill('first')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Continue conversation' }).click()
  const said = page.getByLabel('Assistant 2')
  await eventually(async () => (await said.inputValue()).includes('You said: “first”') || undefined)
  await page.getByLabel('User 3').fill('second')
  await page.getByRole('button', { name: 'Send' }).click()
  await reply(page).getByText('You said: “second”').waitFor()
})

test('errors of the gateway are shown unchanged', async () => {
  const page = await openWithKey()
  await page.getByLabel('Model').selectOption('demo')
  await page.getByLabel('User').fill('please fail')
  await page.getByRole('button', { name: 'Send' }).click()
  const alert = reply(page).getByRole('alert')
  await alert.waitFor()
  const requestId = await reply(page).locator('p code').last().innerText()
  await written(page).getByText('upstream error').waitFor()
  const [row] = await desk.sql`
    select error_code, error_message from request_log.request_logs where request_id = ${requestId}`
  const text = await alert.innerText()
  expect(text).toContain(row?.error_code)
  expect(text).toContain(row?.error_message)
})

test('the key is not stored', async () => {
  const page = await openWithKey()
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
  )
  expect(kept).not.toContain('gwk_')
  expect(page.url()).not.toContain('gwk_')
  await page.getByRole('link', { name: 'My usage', exact: true }).first().click()
  await page.getByRole('heading', { name: 'My usage' }).waitFor()
  await page.getByRole('link', { name: 'Playground', exact: true }).click()
  expect(await page.getByLabel('API key').inputValue()).toBe('')
})

test('users who are not admins can try models, too', async () => {
  const page = await openWithKey('user')
  await page.getByLabel('Model').selectOption('demo')
  await page.getByLabel('User').fill('hello')
  await page.getByRole('button', { name: 'Send' }).click()
  await written(page).getByText('An administrator can look up the request').waitFor()
})

/** As the page shows it: an amount below a cent with two significant digits. */
function usdOf(pico: string): string {
  return `$${(Number(pico) / 1e12).toFixed(12).replace(/0+$/, '')}`
}
