import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import type { DeclaredServer } from './config.ts'
import plugin from './index.ts'
import { planSeed } from './seed.ts'
import { createServerStore, type ServerColumns, type ServerStore } from './store.ts'

let database: TestDatabase
let store: ServerStore

beforeAll(async () => {
  database = await createTestDatabase()
  const { id, migrations = [] } = plugin.manifest
  store = createServerStore(await database.forPlugin(id, migrations))
})
afterAll(() => database?.drop())

const entry: DeclaredServer = {
  server_key: 'docs',
  display_name: 'Docs',
  server_url: 'https://docs.example.com/mcp',
  timeout_ms: 5000,
  allow_private: false,
}

/** Registers a server from the config file; returns its row. */
async function seeded(declared: DeclaredServer) {
  const newId = () => Bun.randomUUIDv7()
  await store.seed(
    (existing) => planSeed([declared], existing, newId),
    async () => {},
  )
  const { rows } = await store.list({ includeDisabled: true }, { offset: 0, page_size: 10 })
  const [row] = rows
  if (row === undefined) throw new Error('nothing was seeded')
  return row
}

test.each([
  [{ display_name: 'Other' }, false],
  [{ description: 'About it' }, false],
  [{ server_url: entry.server_url }, false],
  [{ server_url: 'https://docs.example.com/other' }, true],
  [{ auth_mode: 'gateway_bearer_token' }, true],
  [{ auth_config: { secret_ref: 'env/GATEWAY_MCP_SECRET_DOCS' } }, true],
  [{ timeout_ms: 6000 }, true],
  [{ status: 'disabled' }, true],
] satisfies [Partial<ServerColumns>, boolean][])(
  '%j outdates a discovery: %p',
  async (columns, outdates) => {
    const before = await seeded(entry)
    await database.sql.begin((tx) => store.update(tx, before, columns, []))
    const after = await store.find(before.id)
    expect(after).toMatchObject(columns)
    expect(after?.version).toBe(before.version + Number(outdates))
    await database.sql`delete from mcp_registry.external_mcp_servers`
  },
)

test('so it is with what the config file changes', async () => {
  const first = await seeded(entry)
  const renamed = await seeded({ ...entry, display_name: 'Other', description: 'About it' })
  expect(renamed).toMatchObject({ display_name: 'Other', version: first.version })
  const opened = await seeded({ ...entry, allow_private: true })
  expect(opened).toMatchObject({ allow_private: true, version: first.version + 1 })
})

test('fields that an administrator has set stay when other fields are set later', async () => {
  for (const [field, value] of Object.entries({ display_name: 'Mine', description: 'x' })) {
    const before = await seeded(entry)
    await database.sql.begin((tx) => store.update(tx, before, { [field]: value }, [field]))
  }
  const after = await seeded({ ...entry, description: 'of the file' })
  expect(after.admin_fields.toSorted()).toEqual(['description', 'display_name'])
  expect(after).toMatchObject({ display_name: 'Mine', description: 'x' })
  await database.sql`delete from mcp_registry.external_mcp_servers`
})
