import { expect, test } from 'bun:test'
import type { SessionCaller } from 'model-gateway/admin'
import type { Outbound } from 'model-gateway/http'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { createServerChanges, type ServerChanges } from './change-servers.ts'
import plugin from './index.ts'
import { recommendedServers } from './recommended.ts'
import { createServerStore } from './store.ts'
import { none } from './testing.ts'

const by = { caller: { kind: 'session', userId: 'u1' } as SessionCaller, requestId: 'r1' }
/** Changes by administrators, in a separate database. */
async function withChanges(
  work: (
    changes: ServerChanges,
    db: TestDatabase,
    outbound: { check(): Promise<void> },
  ) => Promise<void>,
) {
  const db = await createTestDatabase()
  try {
    const { id, migrations = [] } = plugin.manifest
    const database = await db.forPlugin(id, migrations)
    const outbound = { check: async () => {} }
    const changes = createServerChanges({
      database,
      store: createServerStore(database),
      audit: () => ({ write: async () => {} }),
      outbound: outbound as unknown as Outbound,
      modes: () => [none],
      policy: () => ({ allowPrivate: false, allowedCidrs: [] }),
      committed: async () => {},
    })
    await work(changes, db, outbound)
  } finally {
    await db.drop()
  }
}

const one = { server_key: 'one', display_name: 'One', server_url: 'https://one.test/' }

test('a URL change is rejected if the server was changed during its check', () =>
  withChanges(async (changes, db, outbound) => {
    const server = await changes.create(by, one)
    outbound.check = async () => {
      outbound.check = async () => {}
      await changes.setStatus(by, server.id, 'disabled')
    }
    const changing = changes.update(by, server.id, { server_url: 'https://two.test/' })
    await expect(changing).rejects.toMatchObject({ code: 'conflict' })
    const [row] = await db.sql`select server_url, status from mcp_registry.external_mcp_servers`
    expect(row).toEqual({ server_url: one.server_url, status: 'disabled' })
  }))

test('a value that is sent as it is stays with the config file', () =>
  withChanges(async (changes, db) => {
    const server = await changes.create(by, one)
    await db.sql`update mcp_registry.external_mcp_servers set admin_fields = '{}'`
    const change = { display_name: 'One', description: 'of mine' }
    const { admin_fields } = await changes.update(by, server.id, change)
    expect(admin_fields).toEqual(['description'])
  }))

test('a suggested server can be made without the description of the suggestion', () =>
  withChanges(async (changes) => {
    const suggestion = recommendedServers.find(({ auth_mode }) => auth_mode === 'none')
    const recommended_catalog_key = suggestion?.recommended_catalog_key as string
    expect(suggestion?.description).toBeString()
    const server = await changes.create(by, { recommended_catalog_key, description: null })
    expect(server.description).toBeNull()
  }))
