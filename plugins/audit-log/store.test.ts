import { expect, test } from 'bun:test'
import { createTestDatabase } from '../../test/harness/database.ts'
import plugin from './index.ts'
import { createStore } from './store.ts'

test('states of an entry are stored without secrets, for every writer', async () => {
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

test('old refusals are deleted, and changes, sign-ins and entries of older versions stay', async () => {
  const db = await createTestDatabase()
  try {
    const { manifest } = plugin
    const store = createStore(await db.forPlugin(manifest.id, manifest.migrations ?? []))
    const entry = { actor: undefined, requestId: 'r', objectKind: 'user', objectId: 'u' }
    const seen = { ...entry, occurredAt: new Date('2026-01-01'), occurrences: 1 }
    await store.writeEvents([
      { ...seen, action: 'auth.sign_in' },
      { ...seen, action: 'auth.sign_in_refused', outcome: 'invalid_credentials' },
      {
        ...seen,
        action: 'new',
        outcome: 'invalid_credentials',
        occurredAt: new Date('2026-01-02'),
      },
    ])
    await db.sql`insert into audit_log.audit_log (id, occurred_at, request_id, action, object_kind, object_id)
      values (gen_random_uuid(), '2026-01-01', 'r', 'before', 'user', 'u')`
    await store.purgeRefusals(new Date('2026-01-02'))
    const left = await db.sql`select action from audit_log.audit_log order by action`
    expect(left.map(({ action }) => action)).toEqual(['auth.sign_in', 'before', 'new'])
  } finally {
    await db.drop()
  }
})
