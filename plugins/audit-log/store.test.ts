import { expect, test } from 'bun:test'
import { createTestDatabase } from '../../test/harness/database.ts'
import plugin from './index.ts'
import { createStore } from './store.ts'

test('no state of an entry is kept with its secrets, whoever writes it', async () => {
  const db = await createTestDatabase()
  try {
    const { manifest } = plugin
    const database = await db.forPlugin(manifest.id, manifest.migrations ?? [])
    const state = { name: 'a', auth: { client_secret: 'hidden' } }
    await database.sql.begin((tx) =>
      createStore(database).write(tx, {
        actor: undefined,
        requestId: 'r',
        action: 'thing.change',
        objectKind: 'thing',
        objectId: 't',
        before: state,
        after: state,
      }),
    )
    const [row] = await db.sql`select before, after from audit_log.audit_log`
    const kept = { name: 'a', auth: { client_secret: '[removed]' } }
    expect(row).toEqual({ before: kept, after: kept })
  } finally {
    await db.drop()
  }
})
