import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { type ScriptedMcpServer, startScriptedServer } from '../../harness/mcp-servers.ts'

const ROOT = '/api/v1/admin/mcp'

interface Entry {
  readonly action: string
  readonly actor_user_id: string
  readonly request_id: string
  readonly before: Record<string, unknown>
  readonly after: Record<string, unknown>
}
interface Run {
  readonly actor_user_id: string
  readonly request_id: string
  readonly status: string
}

let gateway: TestGateway
let admin: AdminClient
let scripted: ScriptedMcpServer
let count = 0

beforeAll(async () => {
  gateway = await startTestGateway({ mcp: { allow_private_networks: true } })
  admin = await adminClient(gateway)
  scripted = startScriptedServer()
})
afterAll(async () => {
  await scripted?.stop()
  await gateway?.stop()
})

async function create(): Promise<string> {
  const body = { server_key: `server-${++count}`, display_name: 'A', server_url: scripted.url }
  const { server } = await admin.post<{ server: { mcp_server_id: string } }>(
    `${ROOT}/servers`,
    body,
  )
  return server.mcp_server_id
}

const refresh = (id: string) =>
  admin.post<{ status: string }>(`${ROOT}/servers/${id}/discovery-refresh`)

/** What the audit log has of the refreshes of a server, the newest first. */
async function entriesOf(id: string): Promise<readonly Entry[]> {
  const { items } = await admin.get<{ items: Entry[] }>(
    `/api/v1/admin/audit-log?object_id=${id}&action=mcp_server.discovery_refresh`,
  )
  return items
}

/** Answers `tools/list` when the test says so. */
function heldBack() {
  const asked = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  scripted.script = async ({ message }) => {
    if (message?.method !== 'tools/list') return undefined as never
    asked.resolve()
    await go.promise
    return Response.json({ jsonrpc: '2.0', id: message.id, result: { tools: [{ name: 'late' }] } })
  }
  return { asked: asked.promise, go: go.resolve }
}

test('a refresh that an administrator asks for is audited, with the tools that it changed', async () => {
  const id = await create()
  scripted.tools = [
    { name: 'kept' },
    { name: 'reworded', description: 'Before these words' },
    { name: 'dropped', title: 'A title' },
  ]
  await refresh(id)
  scripted.tools = [
    { name: 'kept' },
    { name: 'reworded', description: 'After these words' },
    { name: 'found', description: 'Some words' },
  ]
  await refresh(id)

  const [second, first, ...others] = await entriesOf(id)
  expect(others).toEqual([])
  expect(first).toMatchObject({
    before: { discovery_status: 'never', tool_count: 0 },
    after: {
      discovery_status: 'success',
      tool_count: 3,
      added: { count: 3, names: ['kept', 'reworded', 'dropped'] },
      changed: { count: 0, names: [] },
      removed: { count: 0, names: [] },
    },
  })
  expect(second).toMatchObject({
    before: { discovery_status: 'success', tool_count: 3 },
    after: {
      discovery_status: 'success',
      error_summary: null,
      tool_count: 3,
      added: { count: 1, names: ['found'] },
      changed: { count: 1, names: ['reworded'] },
      removed: { count: 1, names: ['dropped'] },
    },
  })
  expect(JSON.stringify([first, second])).not.toMatch(/words|A title/)
  const { items } = await admin.get<{ items: Run[] }>(`${ROOT}/servers/${id}/discovery-runs`)
  expect(items.map((run) => [run.actor_user_id, run.request_id])).toEqual([
    [second?.actor_user_id as string, second?.request_id as string],
    [first?.actor_user_id as string, first?.request_id as string],
  ])
})

test('a refresh that fails is audited once; one that is refused is not', async () => {
  const id = await create()
  scripted.tools = [{ name: 'same' }, { name: 'same' }]
  expect((await refresh(id)).status).toBe('failed')
  const [entry, ...others] = await entriesOf(id)
  expect(others).toEqual([])
  expect(entry?.after).toEqual({
    discovery_status: 'failed',
    error_summary: expect.stringContaining('invalid tools'),
    tool_count: 0,
  })

  const held = heldBack()
  try {
    const running = refresh(id)
    await held.asked
    await admin.refused('POST', `${ROOT}/servers/${id}/discovery-refresh`)
    held.go()
    await running
  } finally {
    held.go()
    scripted.script = undefined
  }
  expect(await entriesOf(id)).toHaveLength(2)
})

test('of thousands of tools the audit log names the first hundred', async () => {
  const id = await create()
  scripted.tools = Array.from({ length: 2000 }, (_, index) => ({ name: `tool-${index}` }))
  expect((await refresh(id)).status).toBe('success')
  const [entry] = await entriesOf(id)
  const added = entry?.after.added as { count: number; names: string[] }
  expect([added.count, added.names.length, added.names[99]]).toEqual([2000, 100, 'tool-99'])
})

test.each([
  ['its names', { display_name: 'Other', description: 'Other' }, 'success'],
  ['its time limit', { timeout_ms: 9000 }, 'failed'],
])('a refresh under way when an administrator changes %s', async (_, change, status) => {
  const id = await create()
  const held = heldBack()
  try {
    const running = refresh(id)
    await held.asked
    await admin.patch(`${ROOT}/servers/${id}`, change)
    held.go()
    expect((await running).status).toBe(status)
  } finally {
    held.go()
    scripted.script = undefined
  }
})
