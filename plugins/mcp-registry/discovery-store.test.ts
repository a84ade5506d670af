import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import type { Outcome } from './discovery/outcome.ts'
import { createDiscoveryStore, type DiscoveryStore } from './discovery-store.ts'
import plugin from './index.ts'
import { createServerStore, findServer, type ServerRow } from './store.ts'

let database: TestDatabase
let store: DiscoveryStore
let server: ServerRow

beforeAll(async () => {
  database = await createTestDatabase()
  const { id, migrations = [] } = plugin.manifest
  const own = await database.forPlugin(id, migrations)
  store = createDiscoveryStore(own, () => ({ write: async () => {} }))
  const serverId = Bun.randomUUIDv7()
  await database.sql`
    insert into mcp_registry.external_mcp_servers (id, server_key, display_name, server_url,
      auth_mode, timeout_ms)
    values (${serverId}, 'one', 'One', 'https://a.test/', 'none', 1000)`
  server = await findServer(createServerStore(own), serverId)
})
afterAll(() => database?.drop())

const found: Outcome = {
  status: 'success',
  protocolVersion: '2025-06-18',
  tools: [
    {
      name: 'tool',
      displayName: undefined,
      description: undefined,
      annotations: undefined,
      inputSchema: '{"type":"object"}',
      schemaHash: 'sha256:a',
      definitionHash: 'sha256:b',
    },
  ],
}
const commit = (leaseId: string | undefined) => {
  const at = new Date()
  return store.commit(
    server,
    leaseId ?? '',
    { by: undefined, startedAt: at, finishedAt: at },
    found,
  )
}
const tools = async () => {
  const page = { offset: 0, page_size: 10 }
  return (await store.listTools(server.id, { includeInactive: true }, page)).total
}

test('a discovery that took so long that another one began leaves the tools to that one', async () => {
  const late = await store.lease(server.id, 1)
  await Bun.sleep(20)
  const current = await store.lease(server.id, 60_000)
  expect(await store.lease(server.id, 60_000)).toBeUndefined()
  expect(await commit(late)).toEqual({
    status: 'failed',
    summary: 'superseded: another refresh took over',
  })
  expect(await tools()).toBe(0)
  expect(await commit(current)).toEqual(found)
  expect(await tools()).toBe(1)
})
