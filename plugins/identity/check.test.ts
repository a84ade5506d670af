import { expect, test } from 'bun:test'
import type { ConfigDraft } from 'model-gateway/host'
import { Secret } from 'model-gateway/plugin'
import { checkIdentity } from './check.ts'
import { generateKey } from './keys.ts'

function problems(sections: Record<string, unknown>, models = ['small', 'large']) {
  const draft: ConfigDraft = {
    modelIds: new Set(models),
    providerIds: new Set(),
    declared: {},
    section: (name) => sections[name],
  }
  return [...checkIdentity(draft)].map(
    ({ path, message, severity = 'error' }) => `${severity} ${path.join('.')}: ${message}`,
  )
}

const value = () => new Secret(generateKey().raw)

test('a sound config has no problems, and neither has an empty one', () => {
  expect(problems({})).toEqual([])
  expect(
    problems({
      auth: { quickstart_user: 'Ada@Example.com' },
      teams: [
        { key: 'core', name: 'Core', model_access: { mode: 'restricted', models: ['small'] } },
      ],
      users: [
        {
          name: 'Ada',
          email: 'Ada@example.com',
          model_access: { mode: 'all' },
          team: { key: 'core' },
          api_keys: [
            { name: 'a', value: value(), models: ['large'] },
            { name: 'b', value: value(), all_models: true },
          ],
        },
      ],
      service_accounts: [
        {
          key: 'ci',
          name: 'CI',
          team: 'core',
          api_keys: [{ name: 'a', value: value(), models: [] }],
        },
      ],
      models: [{ allowlist: { users: ['ADA@example.com'], teams: ['core'] } }],
    }),
  ).toEqual([])
})

test('models may be named by patterns, which a service account cannot have for all', () => {
  const keys = (...models: string[]) => [{ name: 'a', value: value(), models }]
  const found = problems(
    {
      teams: [
        { key: 't', name: 'T', model_access: { mode: 'restricted', models: ['*-mini', 'b/*'] } },
      ],
      users: [
        { name: 'A', email: 'a@b', api_keys: keys('a/x', 'a/x-*', '*', 'small', 'b/x', 'a/*/*') },
      ],
      service_accounts: [{ key: 'ci', name: 'CI', team: 't', api_keys: keys('a/*', '*') }],
    },
    ['a/*', 'small'],
  )
  expect(found).toEqual([
    'error teams.0.model_access.models.1: no model matches b/*',
    'error users.0.api_keys.0.models.4: no model matches b/x',
    'error users.0.api_keys.0.models.5: a/*/* has more than one *; use one, which matches any text, as in openai/*',
    'error service_accounts.0.api_keys.0.models.1: * grants all models, which is allowed only for users',
  ])
})

test('every problem is reported with its path', () => {
  const twice = value()
  const publicId = twice.reveal().slice(4, 20)
  const found = problems({
    auth: {
      quickstart_user: 'nobody@example.com',
      bootstrap_admin: { password: new Secret('short') },
    },
    teams: [
      { key: 'core', model_access: { mode: 'restricted', models: ['nope'] } },
      { key: 'core', model_access: { mode: 'all', models: ['small'] } },
    ],
    users: [
      {
        email: 'ada@example.com',
        team: { key: 'missing' },
        model_access: { mode: 'restricted', models: ['gone'] },
        api_keys: [
          { name: 'a', value: new Secret('gwk_short.x'), models: ['small'], all_models: true },
          { name: 'a', value: twice },
        ],
      },
      { email: 'ADA@example.com', api_keys: [{ name: 'a', value: twice, models: ['typo'] }] },
    ],
    service_accounts: [
      { key: 'ci', team: 'absent', api_keys: [{ name: 'a', all_models: true }] },
      { key: 'ci', team: 'core', model_access: { mode: 'restricted', models: ['lost'] } },
    ],
    models: [{ allowlist: { users: ['x@example.com'], teams: ['y'] } }],
  })
  expect(found).toEqual([
    'error teams.1.key: another entry has the same key core',
    'error users.1.email: another entry has the same email ada@example.com',
    'error service_accounts.1.key: another entry has the same key ci',
    'error teams.0.model_access.models.0: no model matches nope',
    'error teams.1.model_access.models: must not be set with mode all',
    'error users.0.model_access.models.0: no model matches gone',
    'error users.0.team.key: unknown team missing',
    'error users.0.api_keys.0.all_models: must not be set together with models',
    'error users.0.api_keys.0.value: is not a gateway key',
    'error users.0.api_keys.1.name: another key of this owner has the same name a',
    'error users.0.api_keys.1: does not grant any model',
    'error users.1.api_keys.0.models.0: no model matches typo',
    'error users.1.api_keys.0.value: has the same public id as users[0].api_keys[1].value',
    'error service_accounts.0.team: unknown team absent',
    'error service_accounts.0.api_keys.0.all_models: is allowed only for users',
    'error service_accounts.1.model_access.models.0: no model matches lost',
    'warning models.0.allowlist.users.0: no user in this file has the email address x@example.com',
    'warning models.0.allowlist.teams.0: no team in this file has the key y',
    expect.stringMatching(/^error auth\.bootstrap_admin\.password: /),
    'error auth.quickstart_user: no user has the email address nobody@example.com',
  ])
  expect(found.join('\n')).not.toContain(publicId)
})

test('mode restricted needs models', () => {
  const team = { key: 'core', name: 'Core' }
  expect(problems({ teams: [{ ...team, model_access: { mode: 'restricted' } }] })).toEqual([
    'error teams.0.model_access: has mode restricted but no models',
  ])
})

test('parts that were cut out are not complained about again', () => {
  expect(
    problems({ users: [{}, { api_keys: [{ models: ['small'] }] }], teams: [{}], models: [{}] }),
  ).toEqual([])
})
