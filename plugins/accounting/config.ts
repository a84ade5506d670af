import { type ConfigDraft, isWildcard } from 'model-gateway/host'
import {
  configSection,
  isJsonObject,
  MAX_TIMER_MS,
  type Problem,
  SecretRef,
  type Static,
  Type,
} from 'model-gateway/plugin'
import { Budget } from '../_shared/budget-schema.ts'
import { type Aliases, executedModel } from '../_shared/model-names.ts'
import { picoUsd } from '../_shared/money.ts'
import { oneOf } from '../_shared/schema.ts'
import { type BudgetSettings, timezoneFault } from './budget.ts'
import { WILDCARD_BUDGET } from './scopes.ts'

const strict = { additionalProperties: false }

export type BudgetConfig = Static<typeof Budget>

export const accountingSection = configSection(
  'accounting',
  Type.Object(
    {
      abort_drain_secs: Type.Number({
        default: 10,
        minimum: 0,
        maximum: Math.floor(MAX_TIMER_MS / 1000),
        description:
          'How long a call continues after its caller disconnects, to read its usage; the usage of longer streams is estimated',
      }),
      commit_timeout_ms: Type.Integer({
        default: 2000,
        minimum: 1,
        maximum: MAX_TIMER_MS,
        description: 'Time limit of a ledger write; on timeout, rows go to the spool',
      }),
      spool_dir: Type.Optional(
        Type.String({
          pattern: '^/',
          description: 'Directory of the spool: an absolute path on the local disk',
        }),
      ),
      spool_reserve_mib: Type.Integer({
        default: 256,
        minimum: 0,
        maximum: 2 ** 30,
        description:
          'Free disk space that logs leave for the spool of the ledger, for use in a database outage',
      }),
    },
    { ...strict, default: {} },
  ),
)

export const budgetsSection = configSection(
  'budgets',
  Type.Object(
    {
      users: Type.Object(
        {
          default: Type.Optional({
            ...Budget,
            description: 'Budget of each user without a budget in users[].budget',
          } as typeof Budget),
          model_defaults: Type.Array(
            Type.Object(
              {
                model: Type.String({ description: 'Model id, not an alias' }),
                budget: {
                  ...Budget,
                  description: 'Budget of each user for this model, in addition to the default',
                } as typeof Budget,
              },
              strict,
            ),
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

export const budgetAlertsSection = configSection(
  'budget_alerts',
  Type.Object(
    {
      email: Type.Object(
        {
          from: Type.String({
            default: 'model-gateway@localhost',
            pattern: '^[^\\r\\n]*[^@\\s<]+@[^@\\s>]+>?$',
            description: 'Sender, such as gateway@example.com or Gateway <gateway@example.com>',
          }),
          poll_interval_secs: Type.Integer({
            default: 30,
            minimum: 1,
            maximum: 3600,
            description: 'How often a process checks for emails to send',
          }),
          batch_size: Type.Integer({
            default: 25,
            minimum: 1,
            maximum: 1000,
            description: 'Maximum number of emails that one process sends per poll',
          }),
          transport: oneOf(['log', 'smtp'], {
            default: 'log',
            description: 'log: writes emails to the log instead of sending them',
          }),
          smtp: Type.Optional(
            Type.Object(
              {
                host: Type.String({ minLength: 1, description: 'Host of the SMTP server' }),
                port: Type.Integer({
                  default: 587,
                  minimum: 1,
                  maximum: 65535,
                  description: 'Port of the SMTP server',
                }),
                username: Type.Optional(
                  Type.String({
                    minLength: 1,
                    description: 'User name, if the server requires authentication',
                  }),
                ),
                password: Type.Optional(SecretRef({ description: 'Required with username' })),
                starttls: Type.Boolean({
                  default: true,
                  description:
                    'false: no STARTTLS; implicit TLS on port 465, no TLS on other ports',
                }),
              },
              strict,
            ),
          ),
        },
        { ...strict, default: {} },
      ),
    },
    { ...strict, default: {} },
  ),
)
export type EmailConfig = Static<typeof budgetAlertsSection.schema>['email']

/** Checks of `budget_alerts.email` that the schema cannot express. */
function* checkEmail(draft: ConfigDraft): Iterable<Problem> {
  const section = draft.section('budget_alerts')
  const email = isJsonObject(section) ? section.email : undefined
  if (!isJsonObject(email)) return
  const path = ['budget_alerts', 'email']
  if (email.transport !== 'smtp') {
    if (email.smtp === undefined) return
    const message = 'has no effect, because transport is not smtp'
    yield { path: [...path, 'smtp'], message, severity: 'warning' }
    return
  }
  if (email.from === undefined) {
    yield {
      path: [...path, 'from'],
      message: 'is required for transport smtp: set the address of the sender',
    }
  }
  if (email.smtp === undefined) {
    yield { path: [...path, 'smtp'], message: 'is required for transport smtp' }
  } else if (isJsonObject(email.smtp)) {
    const { username, password } = email.smtp
    if ((username === undefined) === (password === undefined)) return
    yield { path: [...path, 'smtp'], message: 'username and password must be set together' }
  }
}

/** The budgets in the sections of the identity plugin. */
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
    unpriced: config.unpriced,
    timezone: config.timezone,
  }
}

export function* checkConfig(draft: ConfigDraft): Iterable<Problem> {
  yield* checkBudgets(draft)
  yield* checkTimezones(draft)
  yield* checkEmail(draft)
}

/** Checks that the runtime knows each time zone. */
function* checkTimezones(draft: ConfigDraft): Iterable<Problem> {
  for (const { path, budget } of budgetsOf(draft)) {
    const timezone = isJsonObject(budget) ? budget.timezone : undefined
    const message = typeof timezone === 'string' ? timezoneFault(timezone) : undefined
    if (message !== undefined) yield { path: [...path, 'timezone'], message }
  }
}

function* budgetsOf(
  draft: ConfigDraft,
): Iterable<{ readonly path: Problem['path']; readonly budget: unknown }> {
  const section = draft.section('budgets')
  const users = isJsonObject(section) ? section.users : undefined
  if (isJsonObject(users)) {
    const path = ['budgets', 'users']
    yield { path: [...path, 'default'], budget: users.default }
    yield* budgetsIn([...path, 'model_defaults'], users.model_defaults)
  }
  for (const name of ['users', 'service_accounts']) yield* budgetsIn([name], draft.section(name))
}

function* budgetsIn(path: Problem['path'], entries: unknown) {
  if (!Array.isArray(entries)) return
  for (const [index, entry] of entries.entries()) {
    if (isJsonObject(entry)) yield { path: [...path, index, 'budget'], budget: entry.budget }
  }
}

/** Checks that `budgets.users.model_defaults` name existing models, each once. */
function* checkBudgets(draft: ConfigDraft): Iterable<Problem> {
  const section = draft.section('budgets')
  const users = isJsonObject(section) ? section.users : undefined
  const defaults = isJsonObject(users) ? users.model_defaults : undefined
  if (!Array.isArray(defaults)) return
  const aliases = aliasesOf(draft)
  const seen = new Set<unknown>()
  for (const [index, entry] of defaults.entries()) {
    const model = isJsonObject(entry) ? entry.model : undefined
    if (typeof model !== 'string') continue
    const path = ['budgets', 'users', 'model_defaults', index, 'model']
    const target = executedModel(model, aliases)
    if (isWildcard(model)) yield { path, message: `${model} ${WILDCARD_BUDGET}` }
    else if (target === undefined) yield { path, message: `model ${model} does not exist` }
    else if (target !== model) {
      yield {
        path,
        message: `${model} is an alias, and a budget applies to the model that it resolves to`,
        hint: `use ${target}`,
      }
    }
    if (seen.has(model)) yield { path, message: `${model} has another entry; keep one of them` }
    seen.add(model)
  }
}

/** The models of the file, with their `alias_of`. */
function aliasesOf(draft: ConfigDraft): Aliases {
  const aliases = new Map([...draft.modelIds].map((id) => [id, {}]))
  const models = draft.section('models')
  for (const model of Array.isArray(models) ? models : []) {
    if (!isJsonObject(model)) continue
    const { id, alias_of: target } = model
    if (typeof id === 'string' && typeof target === 'string') aliases.set(id, { aliasOf: target })
  }
  return aliases
}
