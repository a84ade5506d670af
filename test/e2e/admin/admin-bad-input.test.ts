import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { ada, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

let gateway: TestGateway
let admin: AdminClient
const ids: Record<string, string> = { nobody: '00000000-0000-7000-8000-000000000000' }

beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [{ id: 'demo', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] }],
    teams: [{ key: 'core', name: 'Core' }],
    users: [ada],
  })
  admin = await adminClient(gateway)
  const make = (path: string, body: object) =>
    admin.post<Record<string, string>>(`/api/v1/admin/${path}`, body)
  const team = await make('teams', { key: 'crew', name: 'Crew' })
  const user = await make('users', {
    name: 'Bob',
    email: 'bob@example.com',
    team: { team_id: team.team_id },
  })
  const account = await make('service-accounts', {
    key: 'ci',
    name: 'CI',
    team_id: team.team_id,
  })
  const key = await make('api-keys', {
    name: 'k',
    owner: { kind: 'user', user_id: user.user_id },
    granted_models: ['demo'],
  })
  const { items } = await admin.get<{ items: { team_id: string }[] }>(
    '/api/v1/admin/teams?search=core',
  )
  const users = await admin.get<{ items: { user_id: string }[] }>('/api/v1/admin/users?search=ada@')
  Object.assign(ids, {
    team: team.team_id,
    core: items[0]?.team_id,
    user: user.user_id,
    ada: users.items[0]?.user_id,
    account: account.service_account_id,
    key: key.api_key_id,
  })
})
afterAll(() => gateway.stop())

/** `:name` is replaced by an id. */
function withIds<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value).replaceAll(/:(nobody|team|core|user|ada|account|key)\b/g, (_, name) =>
      String(ids[name as string]),
    ),
  )
}

const KEY = { name: 'x', owner: { kind: 'user', user_id: ':user' }, granted_models: ['demo'] }
const ACCOUNT_OWNER = { kind: 'service_account', service_account_id: ':account' }

test.each<[string, string, unknown, number, string]>([
  ['POST', 'users', undefined, 400, 'no body'],
  ['POST', 'users', '{"name":', 400, 'not valid JSON'],
  ['POST', 'users', '[]', 422, '/: '],
  ['POST', 'users', { name: 'X' }, 422, '/email'],
  ['POST', 'users', { name: 'X', email: 'x' }, 422, '/email: must be an e-mail address'],
  ['POST', 'users', { name: ' ', email: 'x@y' }, 422, '/name'],
  ['POST', 'users', { name: 'a\nb', email: 'x@y' }, 422, '/name'],
  [
    'POST',
    'users',
    '{"name":"a\\u0000b","email":"x@y"}',
    422,
    '/name: contains the character U+0000',
  ],
  [
    'POST',
    'users',
    '{"name":"a\\ud800","email":"x@y"}',
    422,
    '/name: contains an unpaired surrogate',
  ],
  ['PATCH', 'users/:user', '{"name":"\\udc00"}', 422, '/name: contains an unpaired surrogate'],
  [
    'POST',
    'mcp/servers',
    {
      server_key: 'torn',
      display_name: 'X',
      server_url: 'https://example.com/',
      auth_mode: 'oauth_obo',
      auth_config: { token_exchange: { client_id: 'a\ud800' } },
    },
    422,
    '/auth_config/token_exchange/client_id: contains an unpaired surrogate',
  ],
  [
    'POST',
    'mcp/servers',
    { server_key: 'torn', display_name: 'X', auth_config: { '\ud800': 1 } },
    422,
    '/auth_config: a member name contains an unpaired surrogate',
  ],
  ['POST', 'users', { name: 'X', email: 'x@y', role: 'god' }, 422, '/role: must be platform_admin'],
  ['POST', 'users', { name: 'X', email: 'x@y', status: 'disabled' }, 422, '/status'],
  ['POST', 'users', { name: 'X', email: 'x@y', password: 'short' }, 422, '/password'],
  ['POST', 'users', { name: 'X', email: 'x@y', is_admin: true }, 422, '/is_admin'],
  ['POST', 'users', { name: 'X', email: 'BOB@example.com' }, 409, 'email'],
  ['POST', 'users', { name: 'X', email: 'x@y', team: { team_id: ':nobody' } }, 404, 'team.team_id'],
  ['POST', 'users', { name: 'X', email: 'x@y', team: { team_id: 'x' } }, 422, '/team/team_id'],
  [
    'POST',
    'users',
    { name: 'X', email: 'x@y', model_access: { mode: 'restricted', models: ['ghost'] } },
    404,
    'model_access.models: no model matches ghost',
  ],
  [
    'POST',
    'users',
    { name: 'X', email: 'x@y', model_access: { mode: 'all', models: ['demo'] } },
    422,
    '/model_access/models: must be empty',
  ],
  ['PATCH', 'users/:nobody', { name: 'X' }, 404, 'no user'],
  ['PATCH', 'users/:user', { email: 'ada@example.com' }, 409, 'email'],
  ['PATCH', 'users/:ada', { email: 'other@example.com' }, 409, 'email: cannot be changed'],
  ['PATCH', 'users/:user', { team: { team_id: ':nobody' } }, 404, 'team.team_id'],
  ['POST', 'teams', { key: 'crew', name: 'X' }, 409, 'key'],
  ['POST', 'teams', { key: 'Crew!', name: 'X' }, 422, '/key'],
  ['DELETE', 'teams/:team', undefined, 409, 'still has members'],
  ['DELETE', 'teams/:core', undefined, 409, 'config file'],
  ['PUT', 'teams/:core/members/:user', { role: 'member' }, 409, 'user_id'],
  ['PUT', 'teams/:team/members/:user', { role: 'boss' }, 422, '/role'],
  ['PUT', 'teams/:team/members/:nobody', { role: 'owner' }, 404, 'no user'],
  ['DELETE', 'teams/:core/members/:user', undefined, 404, 'no member'],
  ['POST', 'service-accounts', { key: 'ci', name: 'X', team_id: ':team' }, 409, 'key'],
  ['POST', 'service-accounts', { key: 'cd', name: 'X', team_id: ':nobody' }, 404, 'team_id'],
  [
    'POST',
    'service-accounts',
    { key: 'cd', name: 'X', team_id: ':team', budget: { cadence: 'hourly', amount_usd: '1' } },
    422,
    '/budget/cadence: must be daily, weekly or monthly',
  ],
  ...['-1', '1e3', '1.1234567890123', '01', '', ' 1', 1].map(
    (amount_usd): [string, string, unknown, number, string] => [
      'POST',
      'service-accounts',
      { key: 'cd', name: 'X', team_id: ':team', budget: { cadence: 'daily', amount_usd } },
      422,
      '/budget/amount_usd',
    ],
  ),
  ['PATCH', 'service-accounts/:account', { team_id: ':nobody' }, 404, 'team_id'],
  ['POST', 'api-keys', { ...KEY, owner: { kind: 'team', team_id: ':team' } }, 422, '/owner'],
  [
    'POST',
    'api-keys',
    { ...KEY, owner: { kind: 'user', user_id: ':nobody' } },
    404,
    'owner.user_id',
  ],
  ['POST', 'api-keys', { ...KEY, granted_models: ['demo', 'ghost'] }, 404, 'granted_models'],
  ['POST', 'api-keys', { ...KEY, granted_models: [] }, 422, '/granted_models'],
  ['POST', 'api-keys', { ...KEY, model_grant_mode: 'all' }, 422, '/granted_models: must be empty'],
  [
    'POST',
    'api-keys',
    { name: 'x', owner: ACCOUNT_OWNER, model_grant_mode: 'all' },
    422,
    '/model_grant_mode: all is allowed only for users',
  ],
  ['POST', 'api-keys', { ...KEY, expires_at: '2020-01-01T00:00:00Z' }, 422, '/expires_at'],
  ['POST', 'api-keys', { ...KEY, expires_at: '2099-13-01T00:00:00Z' }, 422, '/expires_at'],
  ['POST', 'api-keys', { ...KEY, expires_at: 'tomorrow' }, 422, '/expires_at'],
  ['PATCH', 'api-keys/:key', { granted_models: ['ghost'] }, 404, 'granted_models'],
  ['PATCH', 'api-keys/:key', { user_id: ':user' }, 422, '/user_id'],
  ['POST', 'api-keys/:key/revoke', { now: true }, 400, 'does not accept a body'],
  ['POST', 'api-keys/:key/rotate', { grace_secs: -1 }, 422, '/grace_secs'],
  ['POST', 'api-keys/:key/rotate', { grace_secs: 1e9 }, 422, '/grace_secs'],
  ['POST', 'api-keys/:nobody/rotate', {}, 404, 'no API key'],
  ['GET', 'users?page=0', undefined, 400, 'page'],
  ['GET', 'users?page=1e300', undefined, 400, 'page'],
  ['GET', 'users?page=1.5', undefined, 400, 'page: must be a whole number'],
  ['GET', 'users?page=two', undefined, 400, 'page'],
  ['GET', 'users?page=1&page=2', undefined, 400, 'page: is given twice'],
  ['GET', 'users?status=dead', undefined, 400, 'status: must be'],
  ['GET', 'users?team_id=x', undefined, 400, 'team_id'],
  ['GET', 'users?search=a%00b', undefined, 400, 'search'],
  ['GET', 'audit-log?occurred_at_start=yesterday', undefined, 400, 'occurred_at_start'],
  ['GET', 'audit-log?occurred_at_start=2026-02-31T99:00:00Z', undefined, 400, 'occurred_at_start'],
  [
    'GET',
    'audit-log?occurred_at_start=2026-02-01T00:00:00Z&occurred_at_end=2026-01-01T00:00:00Z',
    undefined,
    400,
    'occurred_at_end',
  ],
  ...['guardrails/decisions', 'observability/mcp-invocations'].map(
    (list): [string, string, unknown, number, string] => [
      'GET',
      `${list}?page=51&page_size=200`,
      undefined,
      400,
      'page: the newest 10000 can be paged through; set occurred_at_end to go on',
    ],
  ),
])(
  '%s %s %j is refused with %d and %s, and changes nothing',
  async (method, path, body, status, message) => {
    const before = await everything()
    const [got, , said] = await admin.refused(
      method,
      `/api/v1/admin/${withIds(path)}`,
      body === undefined ? undefined : withIds(body),
    )
    expect([got, said]).toEqual([status, expect.stringContaining(message)])
    expect(await everything()).toEqual(before)
  },
)

test('names are texts: nothing in them is run or gets lost', async () => {
  for (const name of [
    "Robert'); drop table identity.users; --",
    '=cmd()',
    '<b>Zoë</b> 名前 😀',
    '%_\\',
  ]) {
    const team = await admin.post<{ team_id: string; name: string }>('/api/v1/admin/teams', {
      key: `t${Bun.hash(name).toString(36)}`,
      name,
    })
    expect(team.name).toBe(name)
    const search = encodeURIComponent(name.toUpperCase())
    expect(await admin.get(`/api/v1/admin/teams?search=${search}`)).toMatchObject({
      total: 1,
      items: [{ team_id: team.team_id, name }],
    })
  }
})

/**
 * Identity of every row version, so that a write of equal values shows too. Entries on sign-ins are
 * written some time after them.
 */
async function everything(): Promise<unknown> {
  return await gateway.sql`
    select 't' as t, id::text, xmin::text from identity.teams
    union all select 'u', id::text, xmin::text from identity.users
    union all select 'm', user_id::text, xmin::text from identity.team_memberships
    union all select 's', id::text, xmin::text from identity.service_accounts
    union all select 'k', id::text, secret_hash from identity.api_keys
    union all select 'x', id::text, xmin::text from mcp_registry.external_mcp_servers
    union all select 'a', id::text, xmin::text from audit_log.audit_log where action not like 'auth.%'
    order by 1, 2`
}
