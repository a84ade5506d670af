import { expect, test } from 'bun:test'
import { browserConfig } from './config.ts'
import { testDesk } from './harness.ts'

const models = Array.from({ length: 230 }, (_, n) => ({
  id: `model-${String(n).padStart(3, '0')}`,
  routes: [{ provider: 'simulator', upstream_model: 'simulator-1' }],
}))
const desk = testDesk({ requests: 0, config: { models: [...browserConfig.models, ...models] } })

test('models beyond the first page of the API can be granted and have budgets', async () => {
  const { userId } = desk.admin
  await desk.admin.post('/api/v1/admin/api-keys', {
    name: 'last',
    owner: { kind: 'user', user_id: userId },
    granted_models: ['model-229'],
  })
  const page = await desk.open('/identity/api-keys')
  await page.getByText('last', { exact: true }).click()
  await page.getByRole('button', { name: 'Edit' }).click()
  const form = page.getByRole('dialog', { name: 'Edit API key “last”' })
  await form.getByLabel('model-000').waitFor()
  expect(await form.getByText('no longer in the config').count()).toBe(0)
  expect(await form.getByLabel('model-229').isChecked()).toBe(true)
  await form.getByLabel('model-228').check()

  await page.goto(`${desk.gateway.url}/console/budgets`)
  await page.getByRole('button', { name: 'New budget' }).first().click()
  const budget = page.getByRole('dialog', { name: 'New budget' })
  await budget.getByRole('combobox', { name: 'Owner' }).fill('root@')
  await page.getByRole('option', { name: /root@example.com/ }).click()
  await budget.getByLabel('Applies to').selectOption('One model')
  const offered = budget.locator('datalist option[value="model-229"]')
  await offered.waitFor({ state: 'attached' })
})

test('a search finds a model on any page of the API, and its URL opens it', async () => {
  const page = await desk.open('/models')
  const table = page.getByRole('table', { name: 'Models' })
  await page.getByLabel('Search models').fill('model-229')
  await table.getByRole('cell', { name: 'model-229', exact: true }).waitFor()
  await page.goto(`${desk.gateway.url}/console/models/model-229`)
  await page.getByRole('dialog', { name: 'model-229' }).waitFor()
  await page.goto(`${desk.gateway.url}/console/models/model-999`)
  const none = page.getByRole('dialog', { name: 'model-999' })
  await none.getByText('The config has no model with this name.').waitFor()
})

test('a search finds servers and tools on any page of the API', async () => {
  await desk.sql`
    insert into mcp_registry.external_mcp_servers (id, server_key, display_name, server_url,
      auth_mode, timeout_ms, discovery_status, tool_count, last_successful_discovery_at)
    select gen_random_uuid(), 'server-' || n, 'Server ' || n, 'https://mcp.example/', 'none', 1000,
      'success', 0, now() from generate_series(1, 230) n`
  await desk.sql`
    insert into mcp_registry.external_mcp_tools (id, server_id, upstream_name, input_schema,
      schema_hash, definition_hash, first_discovered_at, last_discovered_at)
    select gen_random_uuid(), s.id, 'tool_' || n, '{}', 'h', 'h', now(), now()
    from mcp_registry.external_mcp_servers s, generate_series(100, 330) n
    where server_key = 'server-99'`
  const page = await desk.open('/mcp')
  await page.getByLabel('Search servers').fill('server-99')
  await page.getByRole('link', { name: 'Server 99' }).click()
  await page.getByText('231 visible').waitFor()
  await page.getByLabel('Search tools').fill('tool_330')
  await page.getByRole('cell', { name: 'tool_330' }).click()
  await page.getByRole('dialog', { name: 'tool_330' }).waitFor()
})

test('a user with more keys than one page shows the total number of keys', async () => {
  const { userId } = desk.admin
  await desk.sql`
    insert into identity.api_keys (id, public_id, secret_hash, name, user_id, model_grant_mode)
    select gen_random_uuid(), 'many' || n, 'none', 'key ' || n, ${userId}, 'all'
    from generate_series(1, 120) n`
  const [known] = await desk.sql`
    select count(*)::int as n from identity.api_keys where user_id = ${userId}`
  const page = await desk.open(`/identity/users/${userId}`)
  await page.getByRole('link', { name: `All ${known?.n} keys` }).click()
  await page.getByText(`1 – ${known?.n} of ${known?.n}`).waitFor()
})
