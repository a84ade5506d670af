import { afterAll, beforeAll, expect, test } from 'bun:test'
import { addressTricks, resolveHostile } from '../../harness/address-tricks.ts'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { type ScriptedMcpServer, startScriptedServer } from '../../harness/mcp-servers.ts'

const ROOT = '/api/v1/admin/mcp/servers'

interface Refreshed {
  readonly status: string
  readonly error_summary: string | null
  readonly server: { readonly server_url: string }
}

let gateway: TestGateway
let admin: AdminClient
let trap: ScriptedMcpServer
let answers: readonly string[] | undefined

beforeAll(async () => {
  trap = startScriptedServer()
  gateway = await startTestGateway(
    {
      mcp: {
        servers: [
          {
            server_key: 'declared',
            display_name: 'Declared',
            server_url: trap.url,
            allow_private: true,
          },
        ],
      },
    },
    {
      outbound: {
        resolve: async (hostname) =>
          hostname === 'rebinding.test' ? (answers ?? []) : resolveHostile(hostname),
      },
    },
  )
  admin = await adminClient(gateway)
})
afterAll(async () => {
  await gateway?.stop()
  await trap?.stop()
})

async function create(server_key: string, server_url: string): Promise<string> {
  const body = { server_key, display_name: 'X', server_url }
  const { server } = await admin.post<{ server: { mcp_server_id: string } }>(ROOT, body)
  return server.mcp_server_id
}
const refresh = (id: string) => admin.post<Refreshed>(`${ROOT}/${id}/discovery-refresh`)
const withPort = (url: string) => url.replaceAll('{port}', new URL(trap.url).port)

test('no trick is registered, and none that stands in the table is reached', async () => {
  const id = await create('public', 'http://93.184.216.34/mcp')
  trap.seen.length = 0
  for (const trick of addressTricks) {
    const server_url = withPort(trick.url)
    const body = { server_key: 'trick', display_name: 'X', server_url }
    for (const [method, path, fields] of [
      ['POST', ROOT, body],
      ['PATCH', `${ROOT}/${id}`, { server_url }],
    ] as const) {
      const [status, code, message] = await admin.refused(method, path, fields)
      expect([trick.url, status, code]).toEqual([trick.url, 422, 'validation_failed'])
      expect(message).toContain('/server_url')
    }
    await gateway.sql`
      update mcp_registry.external_mcp_servers set server_url = ${server_url} where id = ${id}`
    const { status, error_summary } = await refresh(id)
    expect([trick.url, status]).toEqual([trick.url, 'failed'])
    expect(error_summary).toMatch(/^(address refused|invalid URL): /)
  }
  expect(trap.seen).toEqual([])
  await gateway.sql`delete from mcp_registry.external_mcp_servers where id = ${id}`
}, 30_000)

test('a name that moves after it was registered is refused when it is used', async () => {
  answers = ['93.184.216.34']
  const url = `http://rebinding.test:${new URL(trap.url).port}/mcp`
  const id = await create('rebinding', url)
  answers = ['127.0.0.1']
  trap.seen.length = 0
  // What was remembered of the name is public, and out of reach of a test.
  expect((await refresh(id)).error_summary).toStartWith('unreachable: ')
  expect((await refresh(id)).error_summary).toStartWith('address refused: ')
  expect(trap.seen).toEqual([])
})

test('a redirect to a forbidden address is a failure with its status', async () => {
  const declared = await declaredServer()
  trap.script = () => Response.redirect('http://169.254.169.254/latest/meta-data/', 307)
  try {
    expect((await refresh(declared.mcp_server_id)).error_summary).toBe(
      'upstream error: initialize was answered with status 307, a redirect; set server_url to its target',
    )
  } finally {
    trap.script = undefined
  }
})

test('a private server of the config file is reached, until an administrator moves it', async () => {
  const { mcp_server_id: id, ...declared } = await declaredServer()
  expect(declared).toMatchObject({ from_config: true, allow_private: true })
  expect((await refresh(id)).status).toBe('success')

  const other = trap.url.replace('/mcp', '/other')
  const [status, code] = await admin.refused('PATCH', `${ROOT}/${id}`, { server_url: other })
  expect([status, code]).toEqual([422, 'validation_failed'])
  await admin.patch(`${ROOT}/${id}`, { server_url: 'https://far.example.com/mcp' })
  const [again] = await admin.refused('PATCH', `${ROOT}/${id}`, { server_url: trap.url })
  expect(again).toBe(422)
  expect(await declaredServer()).toMatchObject({ allow_private: false })
})

async function declaredServer() {
  const { items } = await admin.get<{
    items: { server_key: string; mcp_server_id: string; [field: string]: unknown }[]
  }>(ROOT)
  const found = items.find(({ server_key }) => server_key === 'declared')
  if (found === undefined) throw new Error('the declared server is not there')
  return found
}
