import { afterAll, beforeAll, expect, test } from 'bun:test'
import mcpCompression from '../../../migrations/mcp-audit/0002_payload_compression.sql' with {
  type: 'text',
}
import logCompression from '../../../migrations/request-log/0004_payload_compression.sql' with {
  type: 'text',
}
import mcpAudit from '../../../plugins/mcp-audit/index.ts'
import requestLog from '../../../plugins/request-log/index.ts'
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test.each([
  ['request bodies', requestLog, logCompression],
  ['MCP payloads', mcpAudit, mcpCompression],
])(
  '%s are compressed with lz4, but not where the server does not know it',
  async (_, plugin, sql) => {
    const { id, migrations = [] } = plugin.manifest
    // The embedded server does not.
    const { schema } = await database.forPlugin(id, migrations)
    const onServerThatSays = (ways: string) =>
      database.sql.begin(async (tx) => {
        await tx.unsafe(`create temporary view pg_settings as
        select 'default_toast_compression' as name, '{${ways}}'::text[] as enumvals`)
        await tx.unsafe(`set local search_path = pg_temp, "${schema}", pg_catalog`)
        await tx.unsafe(sql)
        throw new Error('nothing was asked for')
      })
    await expect(onServerThatSays('pglz')).rejects.toThrow('nothing was asked for')
    await expect(onServerThatSays('pglz,lz4')).rejects.toThrow('lz4 not supported')
  },
)
