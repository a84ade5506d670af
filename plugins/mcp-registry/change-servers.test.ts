import { expect, test } from 'bun:test'
import { mcpAuthMode, type Outbound, type SessionCaller, strictObject } from 'model-gateway/plugin'
import { createTestDatabase } from '../../test/harness/database.ts'
import { createServerChanges } from './change-servers.ts'
import plugin from './index.ts'
import { createServerStore } from './store.ts'

const by = { caller: { kind: 'session', userId: 'u1' } as SessionCaller, requestId: 'r1' }
const none = mcpAuthMode({
  mode: 'none',
  kind: 'gateway',
  configSchema: strictObject({}),
  validate: () => [],
  headers: () => ({}),
})

test('a URL that was judged while somebody else changed where the server is reached is not taken', async () => {
  const db = await createTestDatabase()
  try {
    const { id, migrations = [] } = plugin.manifest
    const database = await db.forPlugin(id, migrations)
    let meanwhile = async () => {}
    const changes = createServerChanges({
      database,
      store: createServerStore(database),
      audit: () => ({ write: async () => {} }),
      outbound: { check: () => meanwhile() } as unknown as Outbound,
      modes: () => [none],
      policy: () => ({ allowPrivate: false, allowedCidrs: [] }),
      committed: async () => {},
    })
    const server_url = 'https://one.test/'
    const server = await changes.create(by, { server_key: 'one', display_name: 'One', server_url })
    meanwhile = async () => {
      meanwhile = async () => {}
      await changes.setStatus(by, server.id, 'disabled')
    }
    const changing = changes.update(by, server.id, { server_url: 'https://two.test/' })
    await expect(changing).rejects.toMatchObject({ code: 'conflict' })
    const [row] = await db.sql`select server_url, status from mcp_registry.external_mcp_servers`
    expect(row).toEqual({ server_url, status: 'disabled' })
  } finally {
    await db.drop()
  }
})
