import { expect, test } from 'bun:test'
import type { ConfigDraft } from 'model-gateway/plugin'
import { checkBudgets } from './config.ts'

const models = [{ id: 'small' }, { id: 'fast', alias_of: 'small' }]

function problems(budgets: unknown): string[] {
  const draft: ConfigDraft = {
    modelIds: new Set(models.map(({ id }) => id)),
    providerIds: new Set(),
    declared: { guardrailPacks: [], managedChecks: [] },
    section: (name) => ({ models, budgets })[name],
  }
  return [...checkBudgets(draft)].map(({ path, message }) => `${path.join('.')}: ${message}`)
}
const defaults = (...names: unknown[]) => ({
  users: { model_defaults: names.map((model) => ({ model })) },
})

test('model defaults name models that are executed, each once', () => {
  expect(problems(defaults('small'))).toEqual([])
  expect(problems(defaults('small', 'none', 'fast', 'small'))).toEqual([
    'budgets.users.model_defaults.1.model: there is no model none',
    'budgets.users.model_defaults.2.model: fast is an alias, and calls count for the model that is executed',
    'budgets.users.model_defaults.3.model: another entry is for small too',
  ])
})

test('whatever was cut out of the section, the check goes on', () => {
  const shapes = [undefined, null, [], {}, { users: 1 }, { users: { model_defaults: 'x' } }]
  for (const shape of [...shapes, defaults(undefined, 7)]) expect(problems(shape)).toEqual([])
})
