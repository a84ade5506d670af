import {
  type ConfigDraft,
  configSection,
  DecimalString,
  isJsonObject,
  type Problem,
  type Static,
  Type,
} from 'model-gateway/plugin'
import type { BudgetSettings } from './budget.ts'
import { picoUsd } from './money.ts'

const strict = { additionalProperties: false }

const Budget = Type.Object(
  {
    cadence: Type.Union([Type.Literal('daily'), Type.Literal('weekly'), Type.Literal('monthly')]),
    amount_usd: DecimalString({ description: 'USD in a window, a quoted decimal.' }),
    hard_limit: Type.Boolean({ default: true }),
    timezone: Type.Literal('UTC', { default: 'UTC' }),
  },
  strict,
)
export type BudgetConfig = Static<typeof Budget>

export const accountingSection = configSection(
  'accounting',
  Type.Object(
    {
      abort_drain_secs: Type.Number({
        default: 10,
        minimum: 0,
        description: 'How long a stream is read on after its caller left, to learn what it cost',
      }),
      commit_timeout_ms: Type.Integer({
        default: 2000,
        minimum: 1,
        description: 'How long the database may take before rows go to the spool',
      }),
      spool_dir: Type.Optional(
        Type.String({ pattern: '^/', description: 'An absolute path on the local disk' }),
      ),
    },
    { ...strict, default: {} },
  ),
)
export type AccountingConfig = Static<typeof accountingSection.schema>

export const budgetsSection = configSection(
  'budgets',
  Type.Object(
    {
      users: Type.Object(
        {
          default: Type.Optional(Budget),
          model_defaults: Type.Array(
            Type.Object({ model: Type.String(), budget: Budget }, strict),
            {
              default: [],
            },
          ),
        },
        { ...strict, default: {} },
      ),
    },
    { ...strict, default: {} },
  ),
)
export type BudgetsConfig = Static<typeof budgetsSection.schema>

/** What the sections of another plugin say of budgets. */
export const usersSection = configSection(
  'users',
  Type.Array(Type.Object({ email: Type.String(), budget: Type.Optional(Budget) })),
)
export const serviceAccountsSection = configSection(
  'service_accounts',
  Type.Array(Type.Object({ key: Type.String(), budget: Budget })),
)

export function budgetSettings(config: BudgetConfig): BudgetSettings {
  return {
    cadence: config.cadence,
    amountPicoUsd: picoUsd(config.amount_usd),
    hardLimit: config.hard_limit,
    timezone: config.timezone,
  }
}

/** What the schema cannot say of `budgets.users.model_defaults`: models that are there, once. */
export function* checkBudgets(draft: ConfigDraft): Iterable<Problem> {
  const section = draft.section('budgets')
  const users = isJsonObject(section) ? section.users : undefined
  const defaults = isJsonObject(users) ? users.model_defaults : undefined
  if (!Array.isArray(defaults)) return
  const seen = new Set<unknown>()
  for (const [index, entry] of defaults.entries()) {
    const model = isJsonObject(entry) ? entry.model : undefined
    if (typeof model !== 'string') continue
    const path = ['budgets', 'users', 'model_defaults', index, 'model']
    const target = aliasTarget(draft, model)
    if (!draft.modelIds.has(model)) yield { path, message: `there is no model ${model}` }
    else if (target !== undefined) {
      yield {
        path,
        message: `${model} is an alias, and calls count for the model that is executed`,
        hint: `write ${target}`,
      }
    }
    if (seen.has(model)) yield { path, message: `another entry is for ${model} too` }
    seen.add(model)
  }
}

function aliasTarget(draft: ConfigDraft, id: string): string | undefined {
  const models = draft.section('models')
  if (!Array.isArray(models)) return undefined
  const model = models.find((entry) => isJsonObject(entry) && entry.id === id)
  const target = isJsonObject(model) ? model.alias_of : undefined
  return typeof target === 'string' ? target : undefined
}
