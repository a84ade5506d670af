import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { type McpRegistry, mcpRegistry } from '../../../plugins/mcp-proxy/contract.ts'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { ada, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

const docs = {
  server_key: 'docs',
  display_name: 'Docs',
  server_url: 'https://docs.example.com/mcp',
  timeout_ms: 5000,
}

let gateway: TestGateway
let admin: AdminClient
let registry: McpRegistry
beforeAll(async () => {
  gateway = await startTestGateway({ mcp: { servers: [docs] } })
  admin = await adminClient(gateway)
  registry = gateway.registry.one(mcpRegistry)
})
afterAll(() => gateway?.stop())

function reload(mcp: unknown) {
  const config = {
    users: [ada],
    mcp,
    server: { bind: '127.0.0.1:0' },
    database: { url: `literal.${gateway.databaseUrl}` },
  }
  return gateway.reload({ text: stringify(config), file: 'gateway.yaml' })
}

async function listed() {
  const { items } = await admin.get<{ items: { mcp_server_id: string; server_key: string }[] }>(
    '/api/v1/admin/mcp/servers?include_disabled=true',
  )
  return items
}

test('a declared server is there from the start, and follows the file', async () => {
  const [server] = await listed()
  expect(server).toMatchObject({ ...docs, from_config: true, auth_mode: 'none', status: 'active' })
  expect(registry.allowedOrigins()).toEqual([])

  const other = { server_key: 'other', display_name: 'Other', server_url: 'http://10.0.0.1/' }
  const { timeout_ms: _, ...untimed } = docs
  const mcp = {
    servers: [
      { ...untimed, display_name: 'Documents' },
      { ...other, allow_private: true },
    ],
    allowed_origins: ['https://app.example.com'],
    allowed_cidrs: ['10.0.0.0/8'],
  }
  expect(await reload(mcp)).toEqual([])
  expect(registry.allowedOrigins()).toEqual(['https://app.example.com'])
  expect(registry.find('docs')).toMatchObject({
    mcpServerId: server?.mcp_server_id as string,
    displayName: 'Documents',
    timeoutMs: 5000,
    addresses: { allowPrivate: false, allowedCidrs: ['10.0.0.0/8'] },
  })
  expect(registry.find('other')?.addresses.allowPrivate).toBe(true)

  expect(await reload({})).toEqual([])
  expect((await listed()).map(({ server_key }) => server_key)).toEqual(['docs', 'other'])
})

test('what an administrator did is not undone, and the log says so', async () => {
  const [server] = await listed()
  const path = `/api/v1/admin/mcp/servers/${server?.mcp_server_id}`
  await admin.patch(path, { display_name: 'Ours' })
  await admin.post(`${path}/disable`)
  await admin.post('/api/v1/admin/mcp/servers', {
    server_key: 'made',
    display_name: 'Made',
    server_url: 'https://made.example.com/mcp',
  })
  const made = {
    server_key: 'made',
    display_name: 'Theirs',
    server_url: 'http://127.0.0.1/mcp',
    allow_private: true,
  }
  expect(await reload({ servers: [{ ...docs, timeout_ms: 7000 }, made] })).toEqual([])
  const now = new Map((await listed()).map((item) => [item.server_key, item]))
  expect(now.get('docs')).toMatchObject({
    display_name: 'Ours',
    timeout_ms: 7000,
    status: 'disabled',
  })
  expect(now.get('made')).toMatchObject({
    display_name: 'Made',
    server_url: 'https://made.example.com/mcp',
    allow_private: false,
  })
  expect(registry.find('made')?.addresses.allowPrivate).toBe(false)
  const warned = gateway.logs.filter(({ level }) => level === 40).map(({ path }) => path)
  expect(warned).toEqual(
    expect.arrayContaining([
      'mcp.servers[0]',
      'mcp.servers[0].display_name',
      'mcp.servers[1].display_name',
      'mcp.servers[1].server_url',
    ]),
  )
})

test('where a secret goes from now on is shown and audited, when the file moves its server', async () => {
  const secret = (name: string) => ({
    server_key: 'kept',
    display_name: 'Kept',
    auth_mode: 'gateway_bearer_token',
    auth_config: { secret_ref: `env/GATEWAY_MCP_SECRET_${name}` },
  })
  const kept = async () => (await listed()).find(({ server_key }) => server_key === 'kept')
  const first = { ...secret('KEPT'), server_url: 'https://first.example.com/mcp' }
  expect(await reload({ servers: [first] })).toEqual([])
  expect(await kept()).toMatchObject({ secret_moved: null })
  const second = { ...first, server_url: 'https://second.example.com/mcp' }
  expect(await reload({ servers: [second] })).toEqual([])
  const origins = { from: 'https://first.example.com', to: 'https://second.example.com' }
  expect(await kept()).toMatchObject({ secret_moved: origins })
  const log = await admin.get<{ items: unknown[] }>(
    '/api/v1/admin/audit-log?action=mcp_server.secret_moved',
  )
  expect(log.items).toMatchObject([
    {
      actor_user_id: null,
      request_id: 'config',
      object_id: (await kept())?.mcp_server_id,
      before: { origin: origins.from },
      after: { origin: origins.to, secret_ref: 'env/GATEWAY_MCP_SECRET_KEPT' },
    },
  ])
  expect(await reload({ servers: [{ ...second, ...secret('NEW') }] })).toEqual([])
  expect(await kept()).toMatchObject({ secret_moved: null })
})

test('a file with a server that cannot be is refused as a whole, with the paths', async () => {
  const before = await listed()
  const problems = await reload({
    servers: [
      { server_key: 'fine', display_name: 'Fine', server_url: 'https://fine.example.com/' },
      { ...docs, server_key: 'a-mode', auth_mode: 'unheard_of' },
      {
        ...docs,
        server_key: 'in-the-clear',
        server_url: 'http://docs.example.com/mcp',
        auth_mode: 'gateway_bearer_token',
        auth_config: { secret_ref: 'env/GATEWAY_MCP_SECRET_DOCS' },
      },
      { ...docs, server_key: 'no-secret', auth_mode: 'gateway_bearer_token' },
    ],
  })
  const errors = problems.filter(({ severity }) => severity !== 'warning')
  expect(errors.map(({ path }) => path.join('.'))).toEqual([
    'mcp.servers.1.auth_mode',
    'mcp.servers.2.server_url',
    'mcp.servers.3.auth_config.secret_ref',
  ])
  expect(await listed()).toEqual(before)
})

test('gateway check-config tells all of it, without a database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-mcp-config-'))
  try {
    const file = join(folder, 'gateway.yaml')
    const { server_url: _, ...without } = docs
    const servers = [
      { ...docs, server_key: 'a-mode', auth_mode: 'unheard_of' },
      {
        ...docs,
        server_url: 'http://docs.example.com/mcp',
        auth_mode: 'gateway_bearer_token',
        auth_config: { secret_ref: 'env/GATEWAY_MCP_SECRET_DOCS' },
      },
      {
        ...docs,
        server_key: 'header',
        auth_mode: 'gateway_static_header',
        auth_config: { header_name: 'host', secret_ref: 'env/GATEWAY_MCP_SECRET_DOCS' },
      },
      { ...without, server_key: 'nowhere', auth_mode: 'none', auth_config: { secret_ref: 'x' } },
      { ...docs, server_key: 'obo', auth_mode: 'oauth_obo', auth_config: { token: 'x' } },
    ]
    writeFileSync(file, stringify({ mcp: { servers, audit_retention: 'forever' } }))
    const main = new URL('../../../plugins/standard/main.ts', import.meta.url).pathname
    const check = Bun.spawn([process.execPath, main, 'check-config', '--config', file], {
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const out = await new Response(check.stdout).text()
    expect(await check.exited).toBe(1)
    for (const path of [
      'mcp.servers[0].auth_mode',
      'mcp.servers[1].server_url',
      'mcp.servers[2].auth_config.header_name',
      'mcp.servers[3].server_url',
      'mcp.servers[3].auth_config.secret_ref',
      'mcp.servers[4].auth_config.token',
      'mcp.audit_retention',
    ]) {
      expect(out).toContain(path)
    }
    expect(out).toContain('7 problems')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
