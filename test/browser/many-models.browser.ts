import { expect, test } from 'bun:test'
import { browserConfig } from './config.ts'
import { testDesk } from './harness.ts'

const models = Array.from({ length: 230 }, (_, n) => ({
  id: `model-${String(n).padStart(3, '0')}`,
  routes: [{ provider: 'simulator', upstream_model: 'simulator-1' }],
}))
const desk = testDesk({ requests: 0, config: { models: [...browserConfig.models, ...models] } })

test('models that do not fit into one page of the API can be granted and have budgets', async () => {
  const { userId } = desk.admin
  await desk.admin.post('/api/v1/admin/api-keys', {
    name: 'last',
    owner: { kind: 'user', user_id: userId },
    granted_models: ['model-229'],
  })
  const page = await desk.open('/identity/api-keys')
  await page.getByText('last', { exact: true }).click()
  await page.getByRole('button', { name: 'Change' }).click()
  const form = page.getByRole('dialog', { name: 'Change the key “last”' })
  await form.getByLabel('model-000').waitFor()
  expect(await form.getByText('not in the config any more').count()).toBe(0)
  expect(await form.getByLabel('model-229').isChecked()).toBe(true)
  await form.getByLabel('model-228').check()

  await page.goto(`${desk.gateway.url}/console/budgets`)
  await page.getByRole('button', { name: 'New budget' }).first().click()
  const budget = page.getByRole('dialog', { name: 'New budget' })
  await budget.getByRole('combobox', { name: 'Whose' }).fill('root@')
  await page.getByRole('option', { name: /root@example.com/ }).click()
  await budget.getByLabel('For').selectOption('One model')
  await budget.getByLabel('Model', { exact: true }).selectOption('model-229')
})
