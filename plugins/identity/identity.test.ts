import { expect, test } from 'bun:test'
import { testServer } from '../../test/harness/database.ts'
import { generateKey } from './keys.ts'
import { writeLastUsed } from './store.ts'
import { db, sample, startReplica, until, useDatabase } from './testing.ts'

useDatabase()

test('seeded owners are who they are said to be', async () => {
  const replica = await startReplica()
  const { user, account, sections } = sample()
  await replica.accept(sections)
  const ada = await replica.identity.authenticate(user)
  expect(ada).toMatchObject({
    owner: {
      kind: 'user',
      email: 'ada@example.com',
      name: 'Ada',
      team: { key: 'core' },
      requestLoggingEnabled: false,
    },
    grants: 'all',
    allowlists: [new Set(['small']), new Set(['small', 'large'])],
  })
  expect(ada.ownershipScopeKey).toBe(
    `user:${ada.owner.kind === 'user' ? ada.owner.userId : 'not a user'}`,
  )
  const ci = await replica.identity.authenticate(account)
  expect(ci).toMatchObject({
    owner: { kind: 'service_account', key: 'ci', name: 'CI', team: { key: 'core' } },
    grants: new Set(['small']),
    allowlists: [new Set(['small', 'large'])],
  })
  expect(ci.ownershipScopeKey).toStartWith('service_account:')
  const [stored] = await db.sql`select * from identity.api_keys limit 1`
  expect(JSON.stringify(stored, (_, v) => (typeof v === 'bigint' ? String(v) : v))).not.toContain(
    user.split('.')[1] ?? '',
  )
})

test.each([
  ['by notification', false, 500],
  ['by looking once a second when notifications do not arrive', true, 1_500],
])('a revoked key is refused by every replica %s', async (_, deaf, limit) => {
  const [a, b] = [await startReplica(), await startReplica({ deaf })]
  const { sections, user, account } = sample()
  await a.accept(sections)
  await b.accept(sections)
  expect(await b.ask(user)).toBe('accepted')
  await db.sql`update identity.api_keys set revoked_at = now() where user_id is not null`
  await until(async () => (await b.ask(user)) === 'api_key_revoked', limit)
  expect(await b.ask(account)).toBe('accepted')
})

test('replicas note the uses of the same keys, whatever the order in which each saw them', async () => {
  const replica = await startReplica()
  await replica.accept(sample().sections)
  const ids = [...(await db.sql<{ id: string }[]>`select id from identity.api_keys`)]
  await db.sql`create function slow() returns trigger language plpgsql as
    'begin perform pg_sleep(0.2); return new; end'`
  await db.sql`create trigger slow before update on identity.api_keys
    for each row execute function slow()`
  const note = (keys: typeof ids) =>
    writeLastUsed(db, new Map(keys.map(({ id }) => [id, Date.now()])))
  await Promise.all([note(ids), note(ids.toReversed())])
  const used = await db.sql`select from identity.api_keys where last_used_at is not null`
  expect(used).toHaveLength(2)
})

test('a lost listening connection is made up for', async () => {
  const replica = await startReplica()
  const { sections, user } = sample()
  await replica.accept(sections)
  // Reserve one connection and end all others. Another one of the pool may not know yet that it is
  // closed.
  const own = await db.sql.reserve()
  await own`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`
  await own`update identity.users set status = 'disabled'`
  own.release()
  await until(async () => (await replica.ask(user)) === 'api_key_owner_inactive', 1_500)
})

test('with the database away keys are served for stale_max_secs, and again when it is back', async () => {
  const replica = await startReplica()
  const { sections, user } = sample()
  await replica.accept({ ...sections, auth: { stale_max_secs: 300 } })
  const name = new URL(db.url).pathname.slice(1)
  const { sql: server } = await testServer()
  await server.unsafe(`alter database ${name} with allow_connections false`)
  await server`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
  try {
    await Bun.sleep(1_200)
    expect(await replica.ask(user)).toBe('accepted')
    expect(await replica.ask(generateKey().raw)).toBe('api_key_not_found')
    replica.clock.skipMs = 290_000
    expect(await replica.ask(user)).toBe('accepted')
    replica.clock.skipMs = 301_000
    expect(await replica.ask(user)).toBe('store_unavailable')
    expect(replica.warnings.map(({ msg }) => msg)).toEqual([
      'the database cannot be reached; API keys are checked from memory',
    ])
  } finally {
    await server.unsafe(`alter database ${name} with allow_connections true`)
  }
  await until(async () => (await replica.ask(user)) === 'accepted', 5_000)
})

test('uses are written once a minute, and do not count as a change', async () => {
  const replica = await startReplica()
  const { sections, user } = sample()
  await replica.accept(sections)
  const revision = async () => (await db.sql`select value from identity.revision`)[0]?.value
  const before = await revision()
  await replica.ask(user)
  await replica.stop()
  const used =
    await db.sql`select last_used_at from identity.api_keys where last_used_at is not null`
  expect(used).toHaveLength(1)
  expect(Date.now() - used[0]?.last_used_at.getTime()).toBeLessThan(5_000)
  expect(await revision()).toBe(before)
})
