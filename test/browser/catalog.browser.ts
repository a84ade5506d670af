import { describe, expect, test } from 'bun:test'
import { browserConfig } from './config.ts'
import { testDesk } from './harness.ts'
import { looksRight } from './look.ts'

describe('models and providers', () => {
  const desk = testDesk({
    requests: 200,
    config: {
      models: [
        ...browserConfig.models.map((model) => ({
          ...model,
          routes: model.routes.map((route) => ({
            ...route,
            capabilities: { vision: false },
            extra_headers: { 'x-tenant': 'top-secret' },
          })),
        })),
        { id: 'usual', alias_of: 'demo' },
      ],
    },
  })

  test('models show their routes, prices and health', async () => {
    const page = await desk.open('/models')
    const table = page.getByRole('table', { name: 'Models' })
    const demo = table.getByRole('row').filter({ hasText: 'simulator-1' })
    await demo.getByText('$1 in · $3 out').waitFor()
    await table.getByRole('row').filter({ hasText: 'no-price' }).getByText('no price').waitFor()
    await table.getByRole('row').filter({ hasText: 'usual' }).getByText('alias').waitFor()
    const [attempts] = await desk.sql`
      select count(*)::int as n, (count(*) filter (where a.status not in ('success', 'client_abort')))::int as failed
      from request_log.request_log_attempts a
      join request_log.request_logs l on l.id = a.request_log_id and l.occurred_at = a.occurred_at
      where l.resolved_model_key = 'demo' and a.occurred_at > now() - interval '15 minutes'`
    await demo.getByText(`${attempts?.failed} of ${attempts?.n} failed`).waitFor()
    const policy = page.locator('section').filter({ hasText: 'Request log policy' }).last()
    await policy.getByText('with payloads. Secrets are redacted').waitFor()
    await policy.getByText('128 events per stream').waitFor()
    await looksRight(page, 'models')
  })

  test('a model opens with its routes, by keyboard and by URL', async () => {
    const page = await desk.open('/models')
    await page.getByRole('row').filter({ hasText: 'simulator-1' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/models\/demo$/)
    const sheet = page.getByRole('dialog', { name: 'demo' })
    await sheet.getByText('config file').waitFor()
    await sheet.getByText('vision: off').waitFor()
    await sheet.getByText('embeddings: ').waitFor()
    await sheet.getByText('x-tenant').waitFor()
    expect(await page.content()).not.toContain('top-secret')
    await looksRight(page, 'model')
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/models$/)
    await page.goto(page.url().replace(/models$/, 'models/no-price'))
    await page.getByRole('dialog', { name: 'no-price' }).getByText('pricing.overrides').waitFor()
  })

  test('a search narrows the list and is in the URL', async () => {
    const page = await desk.open('/models')
    await page.getByRole('searchbox', { name: 'Search models' }).fill('no-')
    await page.waitForURL(/search=no-/)
    const rows = page.getByRole('table', { name: 'Models' }).getByRole('row')
    await rows.nth(2).waitFor({ state: 'detached' })
    await rows.nth(1).getByText('no-price').first().waitFor()
    expect(await rows.count()).toBe(2)
    await page.getByRole('searchbox', { name: 'Search models' }).fill('nothing like it')
    await page.getByText('No matching models').waitFor()
  })

  test('a route without a price shows only the fix that applies', async () => {
    const page = await desk.open('/models/no-price')
    const route = page.getByRole('dialog').getByRole('region', { name: /^Route/ })
    await route.getByText('no price', { exact: true }).waitFor()
    expect(await route.innerText()).toContain('Set a price for it under pricing.overrides')
    expect(await route.innerText()).not.toContain('pricing_provider_id')
  })

  test('providers show their models, timeouts and attempts', async () => {
    const page = await desk.open('/providers')
    const row = page
      .getByRole('table', { name: 'Providers', exact: true })
      .getByRole('row')
      .filter({ hasText: 'simulator' })
    await row.getByText('demo, no-price').waitFor()
    const [attempts] = await desk.sql`
      select count(*)::int as n, (count(*) filter (where a.status not in ('success', 'client_abort')))::int as failed
      from request_log.request_log_attempts a where occurred_at > now() - interval '15 minutes'
        and provider_key = 'simulator'`
    await row.getByText(`${attempts?.failed} of ${attempts?.n} failed`).waitFor()
    await looksRight(page, 'providers')
    await row.getByRole('link', { name: 'simulator' }).click()
    await page.waitForURL(/\/requests\?provider_key=simulator/)
  })

  test('both are readable on a tablet', async () => {
    for (const path of ['/models', '/providers']) {
      const page = await desk.open(path, { size: 'tablet' })
      await page.getByRole('table').first().waitFor()
      await looksRight(page, `${path.slice(1)}-tablet`)
    }
  })
})
