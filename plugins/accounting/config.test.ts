import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import type { ConfigDraft } from 'model-gateway/host'
import { accountingSection, checkConfig } from './config.ts'

const models = [
  { id: 'small' },
  { id: 'open/*' },
  { id: 'short/*', alias_of: 'open/gpt-*' },
  { id: 'fast', alias_of: 'small' },
  { id: 'fastest', alias_of: 'fast' },
  { id: 'round', alias_of: 'about' },
  { id: 'about', alias_of: 'round' },
]

function draftOf(budgets: unknown, email?: unknown, others: object = {}): ConfigDraft {
  return {
    modelIds: new Set(models.map(({ id }) => id)),
    providerIds: new Set(),
    declared: {},
    section: (name) => ({ models, budgets, budget_alerts: { email }, ...others })[name as 'models'],
  }
}
function problems(...sections: Parameters<typeof draftOf>): string[] {
  return [...checkConfig(draftOf(...sections))].map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  )
}
const defaults = (...names: unknown[]) => ({
  users: { model_defaults: names.map((model) => ({ model })) },
})

test('model defaults name executed models, each once', () => {
  expect(problems(defaults('small'))).toEqual([])
  expect(problems(defaults('small', 'none', 'fast', 'small'))).toEqual([
    'budgets.users.model_defaults.1.model: model none does not exist',
    'budgets.users.model_defaults.2.model: fast is an alias, and a budget applies to the model that it resolves to',
    'budgets.users.model_defaults.3.model: small has another entry; keep one of them',
  ])
})

test.each([
  ['fast', 'use small'],
  ['fastest', 'use small'],
  ['round', 'use about'],
  ['short/5', 'use open/gpt-5'],
])('the hint for the alias %s is: %s', (alias, hint) => {
  expect([...checkConfig(draftOf(defaults(alias)))]).toMatchObject([{ hint }])
})

test('a name that a wildcard matches can have a budget, a wildcard cannot', () => {
  expect(problems(defaults('open/gpt-5', 'open/*', 'shut/gpt-5'))).toEqual([
    'budgets.users.model_defaults.1.model: open/* matches many models, and a budget applies to one model: write the full model name',
    'budgets.users.model_defaults.2.model: model shut/gpt-5 does not exist',
  ])
})

test('the check works without any part of the section', () => {
  const shapes = [undefined, null, [], {}, { users: 1 }, { users: { model_defaults: 'x' } }]
  for (const shape of [...shapes, defaults(undefined, 7)]) expect(problems(shape)).toEqual([])
})

test('the time zone of a budget can be any known one', () => {
  const budget = (timezone: string) => ({ cadence: 'daily', amount_usd: '1', timezone })
  const named = (timezone: string) =>
    problems(
      {
        users: {
          default: budget(timezone),
          model_defaults: [{ model: 'small', budget: budget(timezone) }],
        },
      },
      undefined,
      {
        users: [{ email: 'a@b' }, { email: 'b@b', budget: budget(timezone) }],
        service_accounts: [{ key: 'bot', budget: budget(timezone) }],
      },
    )
  expect(named('Europe/Berlin')).toEqual([])
  expect(named('Mars/Base')).toEqual(
    [
      'budgets.users.default',
      'budgets.users.model_defaults.0.budget',
      'users.1.budget',
      'service_accounts.0.budget',
    ].map(
      (path) => `${path}.timezone: must be the name of a time zone, such as UTC or Europe/Berlin`,
    ),
  )
})

test.each([
  [{ abort_drain_secs: 2_147_483, commit_timeout_ms: 2_147_483_647 }, true],
  [{ abort_drain_secs: 2_147_484 }, false],
  [{ commit_timeout_ms: 2_147_483_648 }, false],
])('times are limited to the range of a timer: %p', (times, good) => {
  const section = Value.Default(accountingSection.schema, { ...times })
  expect(Value.Check(accountingSection.schema, section)).toBe(good)
})

test.each([
  [{ transport: 'log' }, []],
  [{ transport: 'smtp', from: 'a@b', smtp: { host: 'h' } }, []],
  [
    { transport: 'smtp', from: 'a@b' },
    ['budget_alerts.email.smtp: is required for transport smtp'],
  ],
  [
    { transport: 'smtp', smtp: { host: 'h' } },
    ['budget_alerts.email.from: is required for transport smtp: set the address of the sender'],
  ],
  [
    { transport: 'smtp', from: 'a@b', smtp: { host: 'h', username: 'u' } },
    ['budget_alerts.email.smtp: username and password must be set together'],
  ],
  [
    { smtp: { host: 'h' } },
    ['budget_alerts.email.smtp: has no effect, because transport is not smtp'],
  ],
])('inconsistent mail settings are reported: %p', (email, expected) => {
  expect(problems(undefined, email)).toEqual(expected)
})
