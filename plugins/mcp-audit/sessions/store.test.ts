import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Database } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts'
import plugin from '../index.ts'
import { createSessionStore, type SessionStore } from './store.ts'

let testDatabase: TestDatabase
let database: Database
let store: SessionStore
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { id, migrations = [] } = plugin.manifest
  database = await testDatabase.forPlugin(id, migrations)
  store = createSessionStore(database)
})
afterAll(() => testDatabase?.drop())

/** Three sessions, two of which share a server or a hash with the first. */
const all = [
  ['server', 'hash'],
  ['server', 'other'],
  ['other', 'hash'],
] as const
beforeEach(async () => {
  await database.sql`delete from ${database.sql(`${database.schema}.mcp_sessions`)}`
  for (const [server, hash] of all) await store.bind(server, hash, `user:${server}-${hash}`)
})

const owners = () => Promise.all(all.map(([server, hash]) => store.find(server, hash)))
const age = (hours: number) => {
  const { sql, schema } = database
  return sql`update ${sql(`${schema}.mcp_sessions`)}
    set last_used_at = last_used_at - ${hours}::int * interval '1 hour'`
}
const HOUR_MS = 3_600_000

test('a session keeps its first owner', async () => {
  expect(await store.bind('server', 'hash', 'user:eve')).toBe('user:server-hash')
  expect(await owners()).toEqual(['user:server-hash', 'user:server-other', 'user:other-hash'])
  expect(await store.find('other', 'other')).toBeUndefined()
})

test('the end of a session is the end of no other', async () => {
  await store.remove('server', 'hash')
  expect(await owners()).toEqual([undefined, 'user:server-other', 'user:other-hash'])
})

test('a session that is used or bound again is kept, and no other for its sake', async () => {
  await age(2)
  await store.find('server', 'hash')
  await store.prune(HOUR_MS)
  expect(await owners()).toEqual(['user:server-hash', undefined, undefined])
  await age(2)
  await store.bind('server', 'hash', 'user:server-hash')
  await store.prune(HOUR_MS)
  expect(await owners()).toEqual(['user:server-hash', undefined, undefined])
})

test('replicas are notified of an ended session, but not of an unknown one', async () => {
  const heard: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = await store.listen(
    (key) => {
      heard.push(key)
      if (key === 'other hash') resolve()
    },
    () => {},
  )
  await store.remove('nobody', 'hash')
  await store.remove('server', 'hash')
  await store.remove('other', 'hash')
  await promise
  expect(heard).toEqual(['server hash', 'other hash'])
  await stop()
})
