import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { ada, adaKey, eventually, startTestGateway, testKey } from '../../harness/gateway.ts'
import { startEverythingServer } from '../../harness/mcp-servers.ts'
import { event, events, fine, idOf, startMcpUpstream, toolCall } from './mcp-upstream.fixture.ts'

const keys = { grace: testKey('grace'), robot: testKey('robot'), narrow: testKey('narrow') }
const budget = { cadence: 'daily', amount_usd: '10' }
const upstream = startMcpUpstream()
const everything = await startEverythingServer()

const server = (server_key: string, more = {}) => ({
  server_key,
  display_name: server_key,
  server_url: upstream.url,
  allow_private: true,
  ...more,
})
const gateway = await startTestGateway({
  models: [{ id: 'm', routes: [{ provider: 'sim', upstream_model: 'm' }] }],
  providers: [{ id: 'sim', type: 'simulator' }],
  teams: [{ key: 'research', name: 'Research' }],
  users: [
    { ...ada, api_keys: [...ada.api_keys, key(keys.narrow, { mcp_servers: ['open'] })] },
    {
      name: 'Grace',
      email: 'grace@example.com',
      team: { key: 'research' },
      api_keys: [key(keys.grace)],
    },
  ],
  service_accounts: [
    {
      key: 'robot',
      name: 'Robot',
      team: 'research',
      budget,
      api_keys: [{ name: 'r', value: `literal.${keys.robot}`, models: ['m'] }],
    },
  ],
  mcp: {
    servers: [
      server('open'),
      server('for-ada', { allowlist: { users: ['Ada@example.com'] } }),
      server('for-research', { allowlist: { teams: ['research'] } }),
      server('for-robot', { allowlist: { service_accounts: ['robot'] } }),
      server('ruled', { tools: { deny: ['drop'] } }),
      { ...server('everything', { tools: { allow: ['echo'] } }), server_url: everything.url },
    ],
  },
})
let admin: AdminClient

function key(raw: string, more = {}) {
  return { name: raw.slice(4, 8), value: `literal.${raw}`, all_models: true, ...more }
}

beforeAll(async () => {
  admin = await adminClient(gateway)
})
afterEach(() => {
  upstream.script = undefined
  upstream.seen.length = 0
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  await everything.stop()
})

async function call(serverKey: string, raw: string, body: unknown = toolCall()) {
  const reply = await fetch(`${gateway.url}/mcp/${serverKey}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${raw}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: reply.status, text: await reply.text(), id: reply.headers.get('x-request-id') }
}

const row = (id: string | null) =>
  eventually(async () => {
    const [found] = await gateway.sql`
      select status, policy_result, error_code, tool_name from mcp_audit.mcp_tool_invocations
      where request_id = ${id} and status <> 'started'`
    return found
  })

const idOfServer = async (serverKey: string): Promise<string> => {
  const { items } = await admin.get<{ items: { server_key: string; mcp_server_id: string }[] }>(
    '/api/v1/admin/mcp/servers',
  )
  return items.find(({ server_key }) => server_key === serverKey)?.mcp_server_id as string
}

describe('a server with an allowlist', () => {
  test.each([
    ['ada', adaKey, ['open', 'for-ada']],
    ['a person of the team', keys.grace, ['open', 'for-research']],
    ['a service account, also when its team is listed', keys.robot, ['open', 'for-robot']],
    ['a key that names one server', keys.narrow, ['open']],
  ])('admits %s where it is listed', async (_, raw, allowed) => {
    for (const name of ['open', 'for-ada', 'for-research', 'for-robot']) {
      const { status } = await call(name, raw)
      expect([name, status]).toEqual([name, allowed.includes(name) ? 200 : 404])
    }
  })

  test('answers the others as a server that does not exist, and nothing reaches it', async () => {
    const refused = await call('for-ada', keys.grace)
    const unknown = await call('unknown', keys.grace)
    const without = ({ text, id }: typeof refused) => text.replaceAll(id as string, '')
    expect([refused.status, without(refused)]).toEqual([404, without(unknown)])
    expect(upstream.seen).toEqual([])
  })

  test('follows what an admin sets, and the file has no say in it then', async () => {
    const id = await idOfServer('for-ada')
    const path = `/api/v1/admin/mcp/servers/${id}`
    await admin.patch(path, { allowlist: { users: ['grace@example.com'] } })
    expect((await call('for-ada', keys.grace)).status).toBe(200)
    expect((await call('for-ada', adaKey)).status).toBe(404)
    await admin.patch(path, { display_name: 'Renamed' })
    await admin.patch(path, { allowlist: null })
    expect((await call('for-ada', adaKey)).status).toBe(200)
    const [changed] = await gateway.sql`
      select admin_fields from mcp_registry.external_mcp_servers where server_key = 'for-ada'`
    expect(changed?.admin_fields.toSorted()).toEqual(['allowlist', 'display_name'])
    for (const empty of [{}, { users: [] }]) {
      const [status, , message] = await admin.refused('PATCH', path, { allowlist: empty })
      expect([status, message]).toEqual([422, expect.stringContaining('/allowlist: is empty')])
    }
  })

  test('ends a stream that is open when its caller is taken off the list', async () => {
    const path = `/api/v1/admin/mcp/servers/${await idOfServer('for-research')}`
    upstream.script = () => events([': hi\n\n', Number.POSITIVE_INFINITY])
    const reply = await fetch(`${gateway.url}/mcp/for-research`, {
      headers: { authorization: `Bearer ${keys.grace}`, accept: 'text/event-stream' },
    })
    const ended = reply.text()
    await admin.patch(path, { allowlist: { users: ['ada@example.com'] } })
    expect(await ended).toContain(': hi')
  }, 40_000)
})

test('the servers of a key can be changed, and are shown', async () => {
  const { items } = await admin.get<{ items: { api_key_id: string; mcp_servers: unknown }[] }>(
    `/api/v1/admin/api-keys?search=${keys.narrow.slice(0, 20)}`,
  )
  expect(items).toMatchObject([{ mcp_servers: ['open'] }])
  const path = `/api/v1/admin/api-keys/${items[0]?.api_key_id}`
  await admin.patch(path, { mcp_servers: [] })
  expect((await call('open', keys.narrow)).status).toBe(404)
  expect(await admin.patch<object>(path, { mcp_servers: 'all' })).toMatchObject({
    mcp_servers: 'all',
  })
  expect((await call('open', keys.narrow)).status).toBe(200)
  const [status, , message] = await admin.refused('PATCH', path, { mcp_servers: ['A b'] })
  expect([status, message]).toEqual([422, expect.stringContaining('/mcp_servers')])
})

describe('a rule for tools', () => {
  const list = { jsonrpc: '2.0', id: 7, method: 'tools/list' }
  const listed = (id: unknown) => ({
    jsonrpc: '2.0',
    id,
    result: { tools: [{ name: 'drop' }, { name: 'read' }] },
  })

  test.each(['drop', 'DROP'])('refuses the call of %p, with an audit row', async (name) => {
    const { status, text, id } = await call('ruled', adaKey, toolCall(3, name))
    expect(status).toBe(403)
    expect(JSON.parse(text)).toMatchObject({
      id: 3,
      error: { data: { code: 'mcp_tool_not_allowed' } },
    })
    expect(upstream.seen).toEqual([])
    expect(await row(id)).toMatchObject({
      status: 'unauthorized',
      policy_result: 'denied',
      error_code: 'mcp_tool_not_allowed',
    })
    expect((await call('ruled', adaKey, toolCall(3, 'read'))).status).toBe(200)
  })

  test('hides its tools from lists, as JSON and as events, and leaves other replies', async () => {
    upstream.script = ({ text }) => Response.json(listed(idOf(text)))
    expect((await call('ruled', adaKey, list)).text).toBe(
      '{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"read"}]}}',
    )
    upstream.script = ({ text }) => events([event(fine(9)), event(listed(idOf(text)), 'e1')])
    const told = (await call('ruled', adaKey, list)).text
    expect(told).toContain('id: e1')
    expect(told).toContain('"tools":[{"name":"read"}]')
    expect(told).not.toContain('drop')
    upstream.script = ({ text }) => Response.json(listed(idOf(text)))
    expect((await call('ruled', adaKey, toolCall(1, 'read'))).text).toContain('drop')
  })

  test('hides them from a list that comes on a resumed stream', async () => {
    upstream.script = () => events([event(listed(7), 'e2')])
    const reply = await fetch(`${gateway.url}/mcp/ruled`, {
      headers: { authorization: `Bearer ${adaKey}`, 'last-event-id': 'e1' },
    })
    expect(await reply.text()).toContain('"tools":[{"name":"read"}]')
  })

  test('is what an official client sees, and the tools of the admin API say', async () => {
    const id = await idOfServer('everything')
    await admin.post(`/api/v1/admin/mcp/servers/${id}/discovery-refresh`)
    const { items } = await admin.get<{ items: { upstream_name: string; is_offered: boolean }[] }>(
      `/api/v1/admin/mcp/servers/${id}/tools`,
    )
    const offered = items.filter(({ is_offered }) => is_offered)
    expect(offered.map(({ upstream_name }) => upstream_name)).toEqual(['echo'])
    expect(items.length).toBeGreaterThan(1)
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp/everything`), {
        requestInit: { headers: { authorization: `Bearer ${adaKey}` } },
      }) as Parameters<Client['connect']>[0],
    )
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['echo'])
    await client.close()
  })
})
