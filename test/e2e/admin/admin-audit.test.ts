import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AdminClient, adminClient, readOperations } from '../../harness/admin.ts'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'

let gateway: TestGateway
let admin: AdminClient
beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [{ id: 'demo', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] }],
    mcp: { allow_private_networks: true },
  })
  admin = await adminClient(gateway)
})
afterAll(() => gateway.stop())

/** Writes that change nothing which an administrator decides. */
const OF_NO_ACCOUNT = [
  'POST /api/v1/auth/login',
  'POST /api/v1/auth/logout',
  'POST /api/v1/guardrails/evaluate',
  'POST /api/v1/admin/guardrails/explain',
]

/** They write files, which a gateway in a test has none of; managed-config.test.ts looks at their rows. */
const OF_FILES = [
  'POST /api/v1/admin/managed-config/providers',
  'DELETE /api/v1/admin/managed-config/providers/{provider_key}',
  'POST /api/v1/admin/managed-config/models',
  'DELETE /api/v1/admin/managed-config/models/{model_key}',
  'POST /api/v1/admin/managed-config/undo',
]

const BUDGET = { cadence: 'daily', amount_usd: '1' }
const SCOPE = { kind: 'user', user_id: ':user_id' }
const KEY = { name: 'K', owner: SCOPE, granted_models: ['demo'] }
const USER = '/api/v1/admin/users/{user_id}'
const TEAM = '/api/v1/admin/teams/{team_id}'
const ACCOUNT = '/api/v1/admin/service-accounts/{service_account_id}'
const API_KEY = '/api/v1/admin/api-keys/{api_key_id}'
const NAMES = '/api/v1/admin/observability/harness-names'
const SERVER = '/api/v1/admin/mcp/servers/{mcp_server_id}'

/** Action, id of the object, and which states are there: before, after. */
type Entry = [action: string, object: string, states: string]

/** In this order; ids in replies are those of the next calls. */
const writes: [operation: string, body: object | undefined, ...entries: Entry[]][] = [
  ['POST /api/v1/admin/teams', { key: 't', name: 'T' }, ['team.create', ':team_id', '-+']],
  [`PATCH ${TEAM}`, { name: 'U' }, ['team.update', ':team_id', '++']],
  [`PATCH ${TEAM}`, {}],
  ['POST /api/v1/admin/users', { name: 'A', email: 'a@x' }, ['user.create', ':user_id', '-+']],
  [`PATCH ${USER}`, { name: 'B' }, ['user.update', ':user_id', '++']],
  [`PATCH ${USER}`, {}],
  [`PUT ${TEAM}/members/{user_id}`, { role: 'member' }, ['team.set_member', ':team_id', '-+']],
  [`PUT ${TEAM}/members/{user_id}`, { role: 'owner' }, ['team.set_member', ':team_id', '++']],
  [`DELETE ${TEAM}/members/{user_id}`, undefined, ['team.remove_member', ':team_id', '+-']],
  [
    'PUT /api/v1/admin/spend/budgets',
    { scope: SCOPE, ...BUDGET },
    ['budget.set', ':budget_id', '-+'],
  ],
  ['PUT /api/v1/admin/spend/budgets', { scope: SCOPE, ...BUDGET }],
  [
    'POST /api/v1/admin/spend/budgets/deactivate',
    { scope: SCOPE },
    ['budget.deactivate', ':budget_id', '++'],
  ],
  ['POST /api/v1/admin/spend/budgets/deactivate', { scope: SCOPE }],
  ['POST /api/v1/admin/api-keys', KEY, ['api_key.create', ':api_key_id', '-+']],
  [`PATCH ${API_KEY}`, { name: 'L' }, ['api_key.update', ':api_key_id', '++']],
  [`PATCH ${API_KEY}`, {}],
  [`POST ${API_KEY}/rotate`, {}, ['api_key.rotate', ':api_key_id', '++']],
  [`POST ${API_KEY}/revoke`, undefined, ['api_key.revoke', ':api_key_id', '++']],
  [`POST ${API_KEY}/revoke`, undefined],
  [`DELETE ${TEAM}`, undefined, ['team.delete', ':team_id', '+-']],
  ['POST /api/v1/admin/teams', { key: 'v', name: 'V' }, ['team.create', ':team_id', '-+']],
  [
    'POST /api/v1/admin/service-accounts',
    { key: 's', name: 'S', team_id: ':team_id', budget: BUDGET },
    ['service_account.create', ':service_account_id', '-+'],
    ['budget.set', '', '-+'],
  ],
  [`PATCH ${ACCOUNT}`, { name: 'R' }, ['service_account.update', ':service_account_id', '++']],
  [`PATCH ${ACCOUNT}`, {}],
  [
    'POST /api/v1/admin/mcp/servers',
    { server_key: 'srv', display_name: 'S', server_url: 'http://127.0.0.1:1/' },
    ['mcp_server.create', ':mcp_server_id', '-+'],
  ],
  [`PATCH ${SERVER}`, { display_name: 'T' }, ['mcp_server.update', ':mcp_server_id', '++']],
  [`PATCH ${SERVER}`, { display_name: 'T' }],
  [
    `POST ${SERVER}/discovery-refresh`,
    undefined,
    ['mcp_server.discovery_refresh', ':mcp_server_id', '++'],
  ],
  [`POST ${SERVER}/disable`, undefined, ['mcp_server.disable', ':mcp_server_id', '++']],
  [`POST ${SERVER}/enable`, undefined, ['mcp_server.enable', ':mcp_server_id', '++']],
  [
    'POST /api/v1/admin/api-keys',
    { ...KEY, owner: { kind: 'user', user_id: ':me' } },
    ['api_key.create', ':api_key_id', '-+'],
  ],
  ['POST /api/v1/me/api-keys/{api_key_id}/rotate', {}, ['api_key.rotate', ':api_key_id', '++']],
  [
    'POST /api/v1/me/api-keys/{api_key_id}/revoke',
    undefined,
    ['api_key.revoke', ':api_key_id', '++'],
  ],
  [`PUT ${NAMES}`, { starts: 'Bot/', label: 'Bot' }, ['harness_name.set', 'bot/', '-+']],
  [`PUT ${NAMES}`, { starts: 'bot/', label: 'Bot' }],
  [`PUT ${NAMES}`, { starts: 'bot/', label: 'Bots' }, ['harness_name.set', 'bot/', '++']],
  [`POST ${NAMES}/remove`, { starts: 'bot/' }, ['harness_name.remove', 'bot/', '+-']],
  [
    'POST /api/v1/auth/password',
    { current_password: 'correct horse battery', new_password: 'another horse battery' },
    ['user.change_password', ':me', '--'],
  ],
]

test('every change leaves its rows in the audit log, and what changes nothing leaves none', async () => {
  const ids: Record<string, string> = { me: admin.userId }
  const withIds = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll(/:(\w+_id|me)\b/g, (_, name) => ids[name] ?? name))
  const wrong: unknown[] = []
  for (const [n, [operation, body, ...entries]] of writes.entries()) {
    const [method = '', template = ''] = operation.split(' ')
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name)
    const requestId = `write-${n}`
    const sent = body === undefined ? undefined : withIds(body)
    const { status, text } = await admin.request(method, path, sent, { 'x-request-id': requestId })
    for (const [, name = '', id = ''] of text.matchAll(/"(\w+_id)":"([0-9a-f-]{36})"/g))
      ids[name] = id
    const found = await gateway.sql<{ entry: Entry; actor_email: string }[]>`
      select actor_email, array[action, object_id, concat(
        case when before is null then '-' else '+' end, case when after is null then '-' else '+' end
      )] as entry
      from audit_log.audit_log where request_id = ${requestId} order by id`
    const expected = entries.map(([action, object, states], i) => [
      action,
      object === '' ? found[i]?.entry[1] : withIds(object),
      states,
    ])
    const got = found.map(({ entry }) => entry)
    const isBy = found.every(({ actor_email }) => actor_email === 'root@example.com')
    if (status >= 300 || !isBy || !Bun.deepEquals(got, expected))
      wrong.push([operation, status, got])
  }
  expect(wrong).toEqual([])
})

test('there is no other way to change something', async () => {
  const known = new Set([...OF_NO_ACCOUNT, ...OF_FILES, ...writes.map(([operation]) => operation)])
  const unknown = (await readOperations(gateway.url))
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path.replace('{server_id}', '{mcp_server_id}')}`)
    .filter((operation) => !known.has(operation))
  expect(unknown).toEqual([])
})
