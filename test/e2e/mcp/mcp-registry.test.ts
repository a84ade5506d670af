import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type McpRegistry, mcpRegistry } from '../../../plugins/mcp-proxy/contract.ts'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import {
  type ScriptedMcpServer,
  startEverythingServer,
  startModernServer,
  startScriptedServer,
} from '../../harness/mcp-servers.ts'

const ROOT = '/api/v1/admin/mcp'
const NOBODY = '00000000-0000-4000-8000-000000000000'

interface Server {
  readonly mcp_server_id: string
  readonly server_key: string
  readonly status: string
  readonly discovery_status: string
  readonly [field: string]: unknown
}
interface Tool {
  readonly mcp_tool_id: string
  readonly upstream_name: string
  readonly schema_version: number
  readonly schema_hash: string
  readonly definition_hash: string
  readonly is_active: boolean
  readonly first_discovered_at: string
  readonly last_discovered_at: string
  readonly [field: string]: unknown
}
interface Refreshed {
  readonly server: Server
  readonly status: string
  readonly error_summary: string | null
  readonly tools: readonly Tool[]
}

let gateway: TestGateway
let replica: TestGateway
let admin: AdminClient
let scripted: ScriptedMcpServer
let count = 0

beforeAll(async () => {
  const config = { mcp: { allow_private_networks: true } }
  gateway = await startTestGateway(config)
  replica = await startTestGateway(config, { databaseUrl: gateway.databaseUrl })
  admin = await adminClient(gateway)
  scripted = startScriptedServer()
})
afterAll(async () => {
  await scripted?.stop()
  await replica?.stop()
  await gateway?.stop()
})

function registry(of: TestGateway): McpRegistry {
  return of.registry.one(mcpRegistry)
}

async function create(fields: Record<string, unknown> = {}): Promise<Server> {
  const { server } = await admin.post<{ server: Server }>(`${ROOT}/servers`, {
    server_key: `server-${++count}`,
    display_name: 'A server',
    server_url: scripted.url,
    ...fields,
  })
  return server
}

const refresh = ({ mcp_server_id }: Server) =>
  admin.post<Refreshed>(`${ROOT}/servers/${mcp_server_id}/discovery-refresh`)

async function toolsOf({ mcp_server_id }: Server, query = ''): Promise<readonly Tool[]> {
  const { items } = await admin.get<{ items: Tool[] }>(
    `${ROOT}/servers/${mcp_server_id}/tools${query}`,
  )
  return items
}

test('a server is registered, found, changed, hidden and shown again', async () => {
  const server = await create({ description: 'About it', timeout_ms: 5000 })
  expect(server).toMatchObject({
    display_name: 'A server',
    description: 'About it',
    server_url: scripted.url,
    auth_mode: 'none',
    auth_config: {},
    timeout_ms: 5000,
    status: 'active',
    discovery_status: 'never',
    tool_count: 0,
    recommended_catalog_key: null,
    from_config: false,
  })
  const path = `${ROOT}/servers/${server.mcp_server_id}`
  expect(await admin.get<{ server: Server }>(path)).toEqual({ server })
  expect(registry(gateway).find(server.server_key)).toMatchObject({
    mcpServerId: server.mcp_server_id,
    serverUrl: scripted.url,
    timeoutMs: 5000,
  })

  const changed = await admin.patch<{ server: Server }>(path, { display_name: 'Other' })
  expect(changed.server).toMatchObject({ display_name: 'Other', timeout_ms: 5000 })

  const listed = async (query = '') => {
    const { items } = await admin.get<{ items: Server[] }>(`${ROOT}/servers${query}`)
    return items.map(({ server_key }) => server_key)
  }
  const { server: disabled } = await admin.post<{ server: Server }>(`${path}/disable`)
  expect(disabled).toMatchObject({ status: 'disabled', discovery_status: 'disabled' })
  expect(registry(gateway).find(server.server_key)).toBeUndefined()
  expect(await listed()).not.toContain(server.server_key)
  expect(await listed('?include_disabled=true')).toContain(server.server_key)

  const { server: enabled } = await admin.post<{ server: Server }>(`${path}/enable`)
  expect(enabled).toMatchObject({ status: 'active', discovery_status: 'never', disabled_at: null })
  expect(registry(gateway).find(server.server_key)).toBeDefined()
  expect(await listed()).toContain(server.server_key)

  const log = await admin.get<{ items: { action: string }[] }>(
    `/api/v1/admin/audit-log?object_id=${server.mcp_server_id}`,
  )
  expect(log.items.map(({ action }) => action)).toEqual([
    'mcp_server.enable',
    'mcp_server.disable',
    'mcp_server.update',
    'mcp_server.create',
  ])
})

test('another replica knows of each change within a second', async () => {
  const server = await create()
  const found = () => registry(replica).find(server.server_key)
  await eventually(async () => found(), 1000)
  await admin.post(`${ROOT}/servers/${server.mcp_server_id}/disable`)
  await eventually(async () => (found() === undefined ? true : undefined), 1000)
})

test('a suggestion fills in what a request leaves out, and makes a server of its own', async () => {
  const { items } = await admin.get<{ items: Server[] }>(`${ROOT}/recommended-servers`)
  expect(items.length).toBeGreaterThanOrEqual(10)
  for (const [i, entry] of items.entries()) {
    const server = await create({
      recommended_catalog_key: entry.recommended_catalog_key,
      server_key: `suggested-${i}`,
      display_name: undefined,
      server_url: undefined,
      timeout_ms: 4000,
    })
    const { documentation_url: _, server_key: __, ...suggested } = entry
    expect(server).toMatchObject({ ...suggested, server_key: `suggested-${i}`, timeout_ms: 4000 })
  }
  const own = await create({
    recommended_catalog_key: 'github',
    display_name: 'Ours',
    auth_mode: 'none',
  })
  expect(own).toMatchObject({ display_name: 'Ours', auth_mode: 'none', auth_config: {} })
  const again = await admin.post<{ server: Server }>(`${ROOT}/servers`, {
    recommended_catalog_key: 'github',
  })
  expect(again.server).toMatchObject({ server_key: 'github' })
  expect(again.server.mcp_server_id).not.toBe(own.mcp_server_id)
  expect(registry(gateway).find('github')?.aliases).toEqual(['github', 'api.githubcopilot.com'])
})

test('a declaration that cannot be is refused by the name of its field and changes nothing', async () => {
  const secret_ref = 'env/GATEWAY_MCP_SECRET_X'
  const bearer = { auth_mode: 'gateway_bearer_token', auth_config: { secret_ref } }
  const header = (name: string) => ({
    auth_mode: 'gateway_static_header',
    auth_config: { secret_ref, header_name: name },
  })
  const far = 'http://mcp.example.com/mcp'
  const cases: [field: string, body: Record<string, unknown>][] = [
    ['/server_key', { server_key: 'ab' }],
    ['/server_key', { server_key: 'Upper' }],
    ['/server_key', { server_key: 'a/b/c' }],
    ['/server_key', { server_key: 'x'.repeat(65) }],
    ['/display_name', { display_name: '' }],
    ['/display_name', { display_name: '  ' }],
    ['/display_name', { display_name: 'x'.repeat(121) }],
    ['/display_name', { display_name: 'two\nlines' }],
    ['/description', { description: 5 }],
    ['/timeout_ms', { timeout_ms: 999 }],
    ['/timeout_ms', { timeout_ms: 120_001 }],
    ['/timeout_ms', { timeout_ms: 1000.5 }],
    ['/server_url', { server_url: 'ftp://mcp.example.com/' }],
    ['/server_url', { server_url: 'https://user:pass@mcp.example.com/' }],
    ['/server_url', { server_url: 'https://mcp.example.com/#part' }],
    ['/server_url', { server_url: 'no url' }],
    ['/server_url', { server_url: `https://mcp.example.com/${'x'.repeat(2048)}` }],
    ['/server_url', { server_url: far, ...bearer }],
    ['/server_url', { server_url: far, ...header('x-key') }],
    ...['?api_key=k', '?a=1&Access-Token=k', '?%6bey=k', '?password'].map(
      (query) =>
        ['/server_url', { server_url: `${scripted.url}${query}` }] as [
          string,
          Record<string, unknown>,
        ],
    ),
    ['/server_url', { server_url: 'http://169.254.169.254/latest/meta-data' }],
    ['/auth_mode', { auth_mode: 'unheard_of' }],
    ['/auth_config/secret_ref', { auth_config: { secret_ref } }],
    ['/auth_config/secret_ref', { ...bearer, auth_config: {} }],
    ['/auth_config/secret_ref', { ...bearer, auth_config: { secret_ref: 'env/PATH' } }],
    [
      '/auth_config/secret_ref',
      { ...bearer, auth_config: { secret_ref: 'env.GATEWAY_MCP_SECRET_X' } },
    ],
    ['/auth_config/secret_ref', { ...bearer, auth_config: { secret_ref: 'sk-raw-token-value' } }],
    ['/auth_config/secret_ref', { ...bearer, auth_config: { secret_ref: `${secret_ref}\n` } }],
    ['/auth_config/token', { ...bearer, auth_config: { secret_ref, token: 'raw' } }],
    ['/auth_config/header_name', { ...header('x'), auth_config: { secret_ref } }],
    ...['host', 'Content-Type', 'mcp-session-id', 'Connection', 'x y', 'transfer-encoding', ''].map(
      (name) => ['/auth_config/header_name', header(name)] as [string, Record<string, unknown>],
    ),
    ['/auth_config/header', { auth_mode: 'user_passthrough', auth_config: { header: 'host' } }],
    ['/auth_config/other', { auth_mode: 'oauth_obo', auth_config: { other: 1 } }],
    ['/auth_config', { auth_config: 'none' }],
    ['/unheard_of', { unheard_of: 1 }],
    ['/mcp_server_id', { mcp_server_id: NOBODY }],
    ['/status', { status: 'active' }],
  ]
  const server = await create()
  const path = `${ROOT}/servers/${server.mcp_server_id}`
  const before = await gateway.sql`select * from mcp_registry.external_mcp_servers order by id`
  for (const [field, fields] of cases) {
    const body = { server_key: 'not-made', display_name: 'X', server_url: scripted.url, ...fields }
    const [status, code, message] = await admin.refused('POST', `${ROOT}/servers`, body)
    expect([field, status, code]).toEqual([field, 422, 'validation_failed'])
    expect(message).toContain(field)
    if (['/server_key', '/status'].includes(field)) continue
    const patch = await admin.refused('PATCH', path, fields)
    expect([field, patch[0], patch[1]]).toEqual([field, 422, 'validation_failed'])
    expect(patch[2]).toContain(field)
  }
  for (const [body, error, named] of [
    [
      { server_key: server.server_key, display_name: 'X', server_url: scripted.url },
      [409, 'conflict'],
      'server_key',
    ],
    [{ recommended_catalog_key: 'unheard-of' }, [404, 'not_found'], 'recommended_catalog_key'],
    [{}, [422, 'validation_failed'], '/server_key'],
  ] as const) {
    const [status, code, message] = await admin.refused('POST', `${ROOT}/servers`, body)
    expect([status, code] as unknown).toEqual(error)
    expect(message).toContain(named)
  }
  expect((await admin.refused('PATCH', path, { server_key: 'another' }))[0]).toBe(422)
  expect((await admin.refused('PATCH', path, { status: 'gone' }))[0]).toBe(422)
  for (const [method, rest] of [
    ['GET', ''],
    ['PATCH', ''],
    ['POST', '/disable'],
    ['POST', '/enable'],
    ['POST', '/discovery-refresh'],
    ['GET', '/tools'],
    ['GET', '/discovery-runs'],
  ] as const) {
    const body = method === 'PATCH' ? { display_name: 'X' } : undefined
    expect((await admin.refused(method, `${ROOT}/servers/${NOBODY}${rest}`, body))[0]).toBe(404)
    expect((await admin.refused(method, `${ROOT}/servers/nobody${rest}`, body))[0]).toBe(404)
  }
  expect((await admin.refused('GET', `${ROOT}/servers?include_disabled=perhaps`))[0]).toBe(400)
  const after = await gateway.sql`select * from mcp_registry.external_mcp_servers order by id`
  expect(after).toEqual(before)
})

test('a secret that follows a URL to another origin is audited and shown', async () => {
  const server = await create({
    server_url: 'https://one.example.com/mcp',
    auth_mode: 'gateway_bearer_token',
    auth_config: { secret_ref: 'env/GATEWAY_MCP_SECRET_ONE' },
  })
  const path = `${ROOT}/servers/${server.mcp_server_id}`
  const patch = async (body: unknown) => (await admin.patch<{ server: Server }>(path, body)).server
  expect((await patch({ server_url: 'https://one.example.com/other' })).secret_moved).toBeNull()
  expect((await patch({ server_url: 'https://two.example.com/other' })).secret_moved).toMatchObject(
    {
      from: 'https://one.example.com',
      to: 'https://two.example.com',
    },
  )
  const log = await admin.get<{ items: { before: unknown; after: unknown }[] }>(
    `/api/v1/admin/audit-log?action=mcp_server.secret_moved&object_id=${server.mcp_server_id}`,
  )
  expect(log.items).toHaveLength(1)
  expect(log.items[0]).toMatchObject({
    before: { origin: 'https://one.example.com' },
    after: { origin: 'https://two.example.com', secret_ref: 'env/GATEWAY_MCP_SECRET_ONE' },
  })
  const renewed = await patch({ auth_config: { secret_ref: 'env/GATEWAY_MCP_SECRET_TWO' } })
  expect(renewed.secret_moved).toBeNull()
})

test('the official servers of both eras are discovered', async () => {
  const everything = await startEverythingServer()
  const modern = startModernServer()
  try {
    const old = await refresh(await create({ server_url: everything.url }))
    expect(old).toMatchObject({ status: 'success', error_summary: null })
    expect(old.server).toMatchObject({
      discovery_status: 'success',
      protocol_version: '2025-11-25',
    })
    expect(old.tools.map(({ upstream_name }) => upstream_name)).toContain('echo')
    expect(old.server.tool_count).toBe(old.tools.length)

    const fresh = await refresh(await create({ server_url: modern.url }))
    expect(fresh).toMatchObject({ status: 'success', error_summary: null })
    expect(fresh.server).toMatchObject({ protocol_version: '2026-07-28', tool_count: 1 })
    expect(fresh.tools[0]).toMatchObject({
      upstream_name: 'add',
      display_name: 'Add',
      description: 'Adds two numbers.',
      schema_version: 1,
    })
    expect(registry(gateway).find(fresh.server.server_key)?.tools).toEqual(
      new Map([['add', (fresh.tools[0] as Tool).mcp_tool_id]]),
    )
  } finally {
    await everything.stop()
    await modern.stop()
  }
})

test('tools keep their ids through renames, changes and removals', async () => {
  const schema = (type: string) => ({ type: 'object', properties: { a: { type } } })
  const server = await create()
  scripted.tools = [
    { name: 'kept', description: 'Same', inputSchema: schema('string') },
    { name: 'changed', inputSchema: schema('string') },
    { name: 'reworded', description: 'Before', inputSchema: schema('string') },
    { name: 'renamed', inputSchema: schema('string') },
    { name: 'bare' },
  ]
  const first = await refresh(server)
  const was = new Map(first.tools.map((tool) => [tool.upstream_name, tool]))
  expect([...was.keys()]).toEqual(['bare', 'changed', 'kept', 'renamed', 'reworded'])
  expect(was.get('bare')?.input_schema).toEqual({ type: 'object' })

  scripted.tools = [
    { name: 'renamed-now', inputSchema: schema('string') },
    // The same schema, its members in another order.
    {
      inputSchema: { properties: { a: { type: 'string' } }, type: 'object' },
      description: 'Same',
      name: 'kept',
    },
    { name: 'changed', inputSchema: schema('number') },
    { name: 'reworded', description: 'After', inputSchema: schema('string') },
  ]
  const second = await refresh(server)
  const now = new Map(
    (await toolsOf(server, '?include_inactive=true')).map((tool) => [tool.upstream_name, tool]),
  )
  expect(now.get('kept')).toEqual({
    ...(was.get('kept') as Tool),
    last_discovered_at: now.get('kept')?.last_discovered_at as string,
  })
  expect(now.get('kept')?.last_discovered_at).not.toBe(was.get('kept')?.last_discovered_at)
  expect(now.get('changed')).toMatchObject({
    mcp_tool_id: was.get('changed')?.mcp_tool_id,
    schema_version: 2,
    is_active: true,
    first_discovered_at: was.get('changed')?.first_discovered_at,
  })
  expect(now.get('changed')?.schema_hash).not.toBe(was.get('changed')?.schema_hash)
  expect(now.get('reworded')).toMatchObject({
    schema_version: 1,
    schema_hash: was.get('reworded')?.schema_hash,
  })
  expect(now.get('reworded')?.definition_hash).not.toBe(was.get('reworded')?.definition_hash)
  expect(now.get('renamed')).toEqual({ ...(was.get('renamed') as Tool), is_active: false })
  expect(now.get('bare')?.is_active).toBe(false)
  expect(now.get('renamed-now')).toMatchObject({ schema_version: 1, is_active: true })
  expect(second.tools.map(({ upstream_name }) => upstream_name)).toEqual([
    'changed',
    'kept',
    'renamed-now',
    'reworded',
  ])
  expect((await toolsOf(server)).length).toBe(4)

  scripted.tools = [{ name: 'bare' }]
  const third = await refresh(server)
  expect(third.tools[0]).toMatchObject({
    mcp_tool_id: was.get('bare')?.mcp_tool_id,
    schema_version: 1,
  })

  const { items } = await admin.get<{ items: Record<string, unknown>[] }>(
    `${ROOT}/servers/${server.mcp_server_id}/discovery-runs`,
  )
  expect(
    items.map(({ status, trigger, tool_count, added_count, changed_count, removed_count }) => [
      status,
      trigger,
      [tool_count, added_count, changed_count, removed_count],
    ]),
  ).toEqual([
    ['success', 'admin', [1, 1, 0, 4]],
    ['success', 'admin', [4, 1, 2, 2]],
    ['success', 'admin', [5, 5, 0, 0]],
  ])
})

test('what a tool said of itself before is kept', async () => {
  const server = await create()
  const tell = async (description: string, type: string, annotations?: object) => {
    scripted.tools = [
      {
        name: 'told',
        description,
        inputSchema: { type: 'object', properties: { a: { type } } },
        ...(annotations && { annotations }),
      } as (typeof scripted.tools)[number],
    ]
    return (await refresh(server)).tools[0] as Tool
  }
  const tool = await tell('Reads', 'string')
  expect(tool).toMatchObject({ version_count: 1, last_changed_at: tool.first_discovered_at })
  await tell('Reads', 'string')
  await tell('Deletes', 'string', { destructiveHint: true })
  const last = await tell('Deletes', 'number', { destructiveHint: true })
  expect(last).toMatchObject({ version_count: 3, last_changed_at: last.last_discovered_at })
  const path = `${ROOT}/servers/${server.mcp_server_id}/tools/${tool.mcp_tool_id}/versions`
  const { items, total } = await admin.get<{ items: Tool[]; total: number }>(path)
  expect(total).toBe(3)
  expect(
    items.map(({ description, schema_version, annotations }) => [
      description,
      schema_version,
      annotations,
    ]),
  ).toEqual([
    ['Deletes', 2, { destructiveHint: true }],
    ['Deletes', 1, { destructiveHint: true }],
    ['Reads', 1, null],
  ])
  expect(items[0]?.input_schema).toEqual({ properties: { a: { type: 'number' } }, type: 'object' })
  for (let n = 0; n < 52; n++) await tell(`Version ${n}`, 'string')
  expect((await admin.get<{ total: number }>(path)).total).toBe(50)
  const foreign = path.replace(server.mcp_server_id, NOBODY)
  expect((await admin.refused('GET', foreign))[0]).toBe(404)
  expect((await admin.refused('GET', path.replace(tool.mcp_tool_id, NOBODY)))[0]).toBe(404)
})

test('a failed refresh says why, and leaves the tools as they were', async () => {
  const server = await create({ timeout_ms: 1000 })
  scripted.tools = [{ name: 'one' }, { name: 'two' }]
  await refresh(server)
  const before = await toolsOf(server, '?include_inactive=true')
  const canary = 'canary-body-text'
  const list = (tools: unknown, rest: Record<string, unknown> = {}) =>
    onList((message) =>
      Response.json({ jsonrpc: '2.0', id: message.id, result: { tools, ...rest } }),
    )
  const cases: [summary: RegExp, script: ScriptedMcpServer['script']][] = [
    [/status 500/, () => new Response(canary, { status: 500 })],
    [/status 401/, () => new Response(canary, { status: 401 })],
    [/status 302/, () => Response.redirect('http://169.254.169.254/', 302)],
    [
      /unsupported protocol/,
      () => new Response(canary, { headers: { 'content-type': 'text/html' } }),
    ],
    [/unsupported protocol/, () => Response.json([canary])],
    [/unsupported protocol/, onInitialize({ protocolVersion: '1999-01-01' })],
    [/^timeout/, () => new Promise<never>(() => {})],
    [
      /^timeout/,
      () =>
        new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array([123])) }), {
          headers: { 'content-type': 'application/json' },
        }),
    ],
    [
      /larger than 2 MiB/,
      onList(
        () =>
          new Response(' '.repeat(3_000_000), { headers: { 'content-type': 'application/json' } }),
      ),
    ],
    [
      /JSON-RPC error -32603/,
      onList(({ id }) =>
        Response.json({ jsonrpc: '2.0', id, error: { code: -32603, message: canary } }),
      ),
    ],
    [/without a list/, list(canary)],
    [/is not an object/, list([canary])],
    [/no name/, list([{ name: '' }])],
    [/same name/, list([{ name: 'a' }, { name: 'a' }])],
    [/does not describe an object/, list([{ name: 'a', inputSchema: [] }])],
    [/does not describe an object/, list([{ name: 'a', inputSchema: null }])],
    [/does not describe an object/, list([{ name: 'a', inputSchema: { type: 'string' } }])],
    [/does not describe an object/, list([{ name: 'a', inputSchema: { type: null } }])],
    [/half of a surrogate pair/, list([{ name: 'a', inputSchema: { title: '\ud800' } }])],
    [
      /tool 2 contains a number/,
      onList(
        ({ id }) =>
          new Response(
            `{"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"a"},{"name":"b","inputSchema":{"x":1e400}}]}}`,
            { headers: { 'content-type': 'application/json' } },
          ),
      ),
    ],
    [/repeats a cursor/, list([], { nextCursor: 'again' })],
    [
      /more than 100/,
      onList((message) =>
        Response.json({
          jsonrpc: '2.0',
          id: message.id,
          result: { tools: [], nextCursor: String(message.id) },
        }),
      ),
    ],
    [
      /JSON-RPC response/,
      onList(
        () =>
          new Response('data: {"jsonrpc":"2.0","id":99,"result":{}}\n\n', {
            headers: { 'content-type': 'text/event-stream' },
          }),
      ),
    ],
  ]
  try {
    for (const [summary, script] of cases) {
      scripted.script = script
      const refreshed = await refresh(server)
      expect(refreshed.status).toBe('failed')
      expect(refreshed.error_summary).toMatch(summary)
      expect(refreshed.error_summary).not.toContain(canary)
      expect(refreshed.server).toMatchObject({
        discovery_status: 'failed',
        last_error_summary: refreshed.error_summary,
        tool_count: 2,
      })
      expect(await toolsOf(server, '?include_inactive=true')).toEqual(before as Tool[])
    }
  } finally {
    scripted.script = undefined
  }
  expect((await refresh(server)).server).toMatchObject({
    discovery_status: 'success',
    last_error_summary: null,
  })
}, 20_000)

test('a parameter that is a credential keeps no other change of its server from being made', async () => {
  const server = await create({ server_url: `${scripted.url}?tool=1&page=2` })
  const server_url = `${scripted.url}?token=old`
  await gateway.sql`
    update mcp_registry.external_mcp_servers set server_url = ${server_url}
    where id = ${server.mcp_server_id}`
  const path = `${ROOT}/servers/${server.mcp_server_id}`
  const changed = await admin.patch<{ server: Server }>(path, {
    server_url,
    auth_mode: 'user_passthrough',
  })
  expect(changed.server).toMatchObject({ auth_mode: 'user_passthrough' })
  const [status, , message] = await admin.refused('PATCH', path, { server_url: `${server_url}2` })
  expect([status, message]).toEqual([422, expect.stringContaining('auth_mode')])
})

test('half a character in a title is replaced', async () => {
  const server = await create()
  scripted.tools = [{ name: 'torn', title: 'x\ud800', description: '\udc00y' }]
  expect(await refresh(server)).toMatchObject({
    status: 'success',
    tools: [{ display_name: 'x\ufffd', description: '\ufffdy' }],
  })
})

test('a discovery that the database refuses is a failed one, and leaves the tools as they were', async () => {
  const server = await create()
  scripted.tools = [{ name: 'before' }]
  await refresh(server)
  const before = await toolsOf(server)
  await gateway.sql`
    create function mcp_registry.refuse() returns trigger language plpgsql as
    $$ begin raise exception 'refused: %', new.description; end $$`
  await gateway.sql`
    create trigger refuse before insert on mcp_registry.external_mcp_tools for each row
    when (new.upstream_name = 'unkeepable') execute function mcp_registry.refuse()`
  scripted.tools = [{ name: 'unkeepable', description: 'canary-of-a-commit' }]
  const failed = await refresh(server)
  scripted.tools = []
  await gateway.sql`drop function mcp_registry.refuse() cascade`
  const error_summary = 'internal failure: the result could not be stored'
  expect(failed).toMatchObject({
    status: 'failed',
    error_summary,
    server: { discovery_status: 'failed', last_error_summary: error_summary, tool_count: 1 },
  })
  expect(await toolsOf(server)).toEqual(before as Tool[])
  const { items } = await admin.get<{ items: Record<string, unknown>[] }>(
    `${ROOT}/servers/${server.mcp_server_id}/discovery-runs`,
  )
  expect(items.map((run) => [run.status, run.error_summary])).toEqual([
    ['failed', error_summary],
    ['success', null],
  ])
  expect(JSON.stringify(gateway.logs)).not.toContain('canary-of-a-commit')
})

test('what a discovery came to shows again when its server is enabled', async () => {
  const again = async (server: Server, whileDisabled?: () => Promise<unknown>) => {
    const path = `${ROOT}/servers/${server.mcp_server_id}`
    await admin.post(`${path}/disable`)
    await whileDisabled?.()
    const enabled = (await admin.post<{ server: Server }>(`${path}/enable`)).server
    return [enabled.discovery_status, enabled.last_error_summary]
  }
  const server = await create()
  expect(await again(server, () => refresh(server))).toEqual(['never', null])
  scripted.tools = [{ name: 'one' }]
  await refresh(server)
  expect(await again(server)).toEqual(['success', null])
  expect(await again(server, () => refresh(server))).toEqual(['success', null])
  scripted.script = () => new Response(null, { status: 500 })
  const { error_summary } = await refresh(server)
  scripted.script = undefined
  expect(error_summary).toContain('status 500')
  expect(await again(server, () => refresh(server))).toEqual(['failed', error_summary])

  const path = `${ROOT}/servers/${server.mcp_server_id}`
  await admin.patch(path, { status: 'disabled' })
  expect((await admin.patch<{ server: Server }>(path, { status: 'active' })).server).toMatchObject({
    discovery_status: 'failed',
    last_error_summary: error_summary,
  })

  const passed = await create({ auth_mode: 'user_passthrough' })
  const { error_summary: why } = await refresh(passed)
  expect(await again(passed)).toEqual(['auth_required', why])
})

test('servers that want the caller to authenticate are not contacted', async () => {
  for (const auth_mode of ['user_passthrough', 'oauth_obo']) {
    const server = await create({ auth_mode })
    const calls = scripted.seen.length
    expect(await refresh(server)).toMatchObject({ status: 'auth_required', tools: [] })
    expect(scripted.seen.length).toBe(calls)
  }
})

test('the secret is read when it is needed, sent, and shown nowhere', async () => {
  const secret = 'canary-secret-value'
  const server = await create({
    auth_mode: 'gateway_static_header',
    auth_config: { header_name: 'X-Service-Key', secret_ref: 'env/GATEWAY_MCP_SECRET_CANARY' },
  })
  const missing = await refresh(server)
  expect(missing).toMatchObject({ status: 'failed' })
  expect(missing.error_summary).toContain('GATEWAY_MCP_SECRET_CANARY is not set')
  process.env.GATEWAY_MCP_SECRET_CANARY = secret
  try {
    scripted.seen.length = 0
    const found = await refresh(server)
    expect(found.status).toBe('success')
    expect(scripted.seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'DELETE'])
    for (const { headers } of scripted.seen) expect(headers.get('x-service-key')).toBe(secret)
    expect(scripted.seen[3]?.headers.get('mcp-session-id')).toBe('s1')
    expect(scripted.seen[2]?.headers.get('mcp-protocol-version')).toBe('2025-11-25')
    scripted.script = () => new Response(secret, { status: 500, statusText: secret })
    const failed = await refresh(server)
    const rows = await gateway.sql`
      select to_json(s)::text as text from mcp_registry.external_mcp_servers s
      union all select to_json(r)::text from mcp_registry.external_mcp_discovery_runs r
      union all select to_json(a)::text from audit_log.audit_log a`
    for (const text of [
      JSON.stringify([found, failed, gateway.logs]),
      ...rows.map((row) => row.text),
    ]) {
      expect(text).not.toContain(secret)
    }
  } finally {
    scripted.script = undefined
    delete process.env.GATEWAY_MCP_SECRET_CANARY
  }
})

test('a server that repeats the secret it was sent is not kept', async () => {
  const secret = 'canary-echoed-value'
  process.env.GATEWAY_MCP_SECRET_ECHO = secret
  const server = await create({
    auth_mode: 'gateway_bearer_token',
    auth_config: { secret_ref: 'env/GATEWAY_MCP_SECRET_ECHO' },
  })
  try {
    scripted.tools = [{ name: 'kept' }]
    await refresh(server)
    for (const tool of [
      { name: 'a', description: `called with Bearer ${secret}` },
      { name: 'b', inputSchema: { type: 'object', default: { token: secret } } },
    ]) {
      scripted.tools = [{ name: 'kept' }, tool]
      const failed = await refresh(server)
      expect(failed).toMatchObject({
        status: 'failed',
        error_summary: "invalid tools: the tool list contains the gateway's credentials",
        tools: [{ upstream_name: 'kept' }],
      })
      const rows = await gateway.sql`
        select to_json(s)::text as text from mcp_registry.external_mcp_servers s
        union all select to_json(r)::text from mcp_registry.external_mcp_discovery_runs r
        union all select to_json(v)::text from mcp_registry.external_mcp_tool_versions v
        union all select to_json(t)::text from mcp_registry.external_mcp_tools t`
      const texts = [JSON.stringify([failed, gateway.logs]), ...rows.map((row) => row.text)]
      for (const text of texts) expect(text).not.toContain(secret)
    }
  } finally {
    delete process.env.GATEWAY_MCP_SECRET_ECHO
  }
})

test('one refresh at a time, and a server that is disabled meanwhile keeps its tools', async () => {
  const server = await create()
  scripted.tools = [{ name: 'before' }]
  await refresh(server)
  const before = await toolsOf(server)
  const started = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  scripted.script = onList(async ({ id }) => {
    started.resolve()
    await go.promise
    return Response.json({ jsonrpc: '2.0', id, result: { tools: [{ name: 'after' }] } })
  })
  try {
    const running = refresh(server)
    await started.promise
    const path = `${ROOT}/servers/${server.mcp_server_id}`
    const [status, code] = await admin.refused('POST', `${path}/discovery-refresh`)
    expect([status, code]).toEqual([409, 'conflict'])
    await admin.post(`${path}/disable`)
    go.resolve()
    expect(await running).toMatchObject({
      status: 'disabled',
      server: { status: 'disabled', discovery_status: 'disabled' },
    })
    expect(await toolsOf(server)).toEqual(before as Tool[])
  } finally {
    go.resolve()
    scripted.script = undefined
  }
})

function onInitialize(result: Record<string, unknown>): ScriptedMcpServer['script'] {
  return ({ message }) =>
    message?.method === 'initialize'
      ? Response.json({ jsonrpc: '2.0', id: message.id, result })
      : undefined
}

function onList(
  answer: (message: Record<string, unknown>) => Response | Promise<Response>,
): ScriptedMcpServer['script'] {
  return ({ message }) => (message?.method === 'tools/list' ? answer(message) : undefined)
}
