import { expect, test } from 'bun:test'
import { Secret } from 'model-gateway/plugin'
import { generateKey } from './keys.ts'
import { db, keyEntry, rowVersions, sample, startReplica, useDatabase } from './testing.ts'

useDatabase()

test('seeding the same again writes nothing; replicas that seed at once agree', async () => {
  const [a, b] = [await startReplica(), await startReplica()]
  const { sections, user } = sample()
  await Promise.all([a.accept(sections), b.accept(sections)])
  const before = await rowVersions()
  await a.accept(sections)
  await b.accept(structuredCloneWithSecrets(sections))
  expect(await rowVersions()).toEqual(before)
  expect(await b.ask(user)).toBe('accepted')
  expect(a.warnings).toEqual([])
})

/** Equal, with other key order and without shared objects. */
function structuredCloneWithSecrets<T>(value: T): T {
  if (value instanceof Secret || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(structuredCloneWithSecrets) as T
  const reversed = Object.entries(value).reverse()
  return Object.fromEntries(reversed.map(([k, v]) => [k, structuredCloneWithSecrets(v)])) as T
}

test('a changed entry writes what it states and leaves alone what it does not', async () => {
  const replica = await startReplica()
  const { sections, user } = sample()
  await replica.accept(sections)
  await db.sql`update identity.users set name = 'By admin', request_logging_enabled = true`
  await replica.accept(sections)
  const name = async () => (await db.sql`select name from identity.users`)[0]?.name
  expect(await name()).toBe('By admin')

  const changed = [
    { name: 'Ada L.', email: 'ada@example.com', api_keys: [keyEntry(user, { models: ['large'] })] },
  ]
  await replica.accept({ ...sections, users: changed })
  expect(await name()).toBe('Ada L.')
  expect(await replica.identity.authenticate(user)).toMatchObject({
    owner: { team: { key: 'core' }, requestLoggingEnabled: true },
    grants: new Set(['large']),
    allowlists: [new Set(['small']), new Set(['small', 'large'])],
  })
  const [row] = await db.sql`select role from identity.users`
  expect(row?.role).toBe('platform_admin')

  await replica.accept({})
  expect(await replica.ask(user)).toBe('accepted')
})

test('a role in a team stays where it was given: in another team the user is a member', async () => {
  const replica = await startReplica()
  const file = (team: object) => ({
    teams: ['core', 'crew'].map((key) => ({ key, name: key })),
    users: [{ name: 'Ada', email: 'ada@example.com', team }],
  })
  const membership = async () => {
    const [row] = await db.sql`
      select t.key, m.role from identity.team_memberships m
        join identity.teams t on t.id = m.team_id`
    return row
  }
  await replica.accept(file({ key: 'core', role: 'owner' }))
  await replica.accept(file({ key: 'core' }))
  expect(await membership()).toEqual({ key: 'core', role: 'owner' })
  await replica.accept(file({ key: 'crew' }))
  expect(await membership()).toEqual({ key: 'crew', role: 'member' })
  await replica.accept(file({ key: 'core', role: 'admin' }))
  expect(await membership()).toEqual({ key: 'core', role: 'admin' })
})

test('another value under the same name replaces the key; a renamed key keeps its row', async () => {
  const replica = await startReplica()
  const [first, second] = [generateKey().raw, generateKey().raw]
  const users = (...api_keys: unknown[]) => ({ users: [{ name: 'A', email: 'a@b.c', api_keys }] })
  await replica.accept(users(keyEntry(first)))
  const { apiKeyId } = await replica.identity.authenticate(first)
  await replica.accept(users(keyEntry(second)))
  expect(await replica.ask(first)).toBe('api_key_not_found')
  expect((await replica.identity.authenticate(second)).apiKeyId).toBe(apiKeyId)

  await replica.accept(users({ ...keyEntry(second), name: 'renamed' }, keyEntry(first)))
  expect((await replica.identity.authenticate(second)).apiKeyId).toBe(apiKeyId)
  expect(await replica.ask(first)).toBe('accepted')

  // The two change places.
  await replica.accept(users(keyEntry(second), { ...keyEntry(first), name: 'renamed' }))
  expect((await replica.identity.authenticate(second)).apiKeyId).toBe(apiKeyId)
  expect(await db.sql`select 1 from identity.api_keys`).toHaveLength(2)
})

test('changes of an administrator stay, with a warning about the file', async () => {
  const replica = await startReplica()
  const { sections, user, account } = sample()
  await replica.accept(sections)
  await db.sql`update identity.api_keys set revoked_at = now() where user_id is not null`
  await db.sql`update identity.api_keys set rotated_at = now(), secret_hash = repeat('0', 64)
    where user_id is null`
  await db.sql`update identity.users set status = 'disabled'`
  const service_accounts = [
    {
      ...sections.service_accounts[0],
      name: 'CI 2',
      api_keys: [keyEntry(account, { models: ['large'] })],
    },
  ]
  await replica.accept({ ...sections, service_accounts })
  expect(replica.warnings.map(({ path, msg }) => `${path}: ${msg}`)).toEqual([
    'users[0]: ada@example.com was disabled by an administrator and stays disabled',
    'users[0].api_keys[0]: the key main was revoked and stays revoked',
    'service_accounts[0].api_keys[0].value: the key main was rotated by an administrator, so this value is ignored',
  ])
  expect(await replica.ask(user)).toBe('api_key_revoked')
  expect(await replica.ask(account)).toBe('api_key_secret_mismatch')
  const [rotated] = await db.sql`select granted_models, secret_hash from identity.api_keys
    where user_id is null`
  expect(rotated).toEqual({ granted_models: ['large'], secret_hash: '0'.repeat(64) })
})

test('the file never takes the role of the last platform admins who can sign in', async () => {
  const replica = await startReplica()
  const file = (role: string, name = 'Ada') => ({
    users: [
      { name, email: 'ada@example.com', role },
      { name: 'Bea', email: 'bea@example.com', role },
    ],
  })
  await replica.accept(file('platform_admin'))
  await db.sql`insert into identity.user_passwords (user_id, hash)
    select id, 'x' from identity.users where email = 'ada@example.com'`
  const roles = async () =>
    (await db.sql`select name, role from identity.users order by email`).map(
      ({ name, role }) => `${name} ${role}`,
    )

  await replica.accept(file('user', 'Ada L.'))
  expect(await roles()).toEqual(['Ada L. platform_admin', 'Bea user'])
  const before = await rowVersions()
  await replica.accept(file('user', 'Ada L.'))
  expect(await rowVersions()).toEqual(before)
  const message =
    'users[0].role: ada@example.com stays a platform admin, because no other platform admin can sign in'
  expect(replica.warnings.map(({ path, msg }) => `${path}: ${msg}`)).toEqual([message, message])

  await db.sql`insert into identity.users (id, name, email, role)
    values (gen_random_uuid(), 'Cid', 'cid@example.com', 'platform_admin')`
  await db.sql`insert into identity.user_passwords (user_id, hash)
    select id, 'x' from identity.users where email = 'cid@example.com'`
  await replica.accept(file('user', 'Ada L.'))
  expect(await roles()).toEqual(['Ada L. user', 'Bea user', 'Cid platform_admin'])
  expect(replica.warnings).toHaveLength(2)
})

test('a user whom an admin demotes while the file is applied counts as demoted', async () => {
  const replica = await startReplica()
  const file = (role: string) => ({ users: [{ name: 'Ada', email: 'ada@example.com', role }] })
  await replica.accept(file('platform_admin'))
  await db.sql`insert into identity.users (id, name, email, role)
    values (gen_random_uuid(), 'Bea', 'bea@example.com', 'platform_admin')`
  await db.sql`insert into identity.user_passwords (user_id, hash)
    select id, 'x' from identity.users`
  let accepted: Promise<void> | undefined
  await db.sql.begin(async (tx) => {
    await tx`select from identity.revision for update`
    accepted = replica.accept(file('user'))
    await Bun.sleep(300)
    await tx`update identity.users set role = 'user' where name = 'Bea'`
  })
  await accepted
  const [ada] = await db.sql`select role from identity.users where name = 'Ada'`
  expect(ada?.role).toBe('platform_admin')
})

test('a key in the file that belongs to another owner is rejected, and nothing is written', async () => {
  const replica = await startReplica()
  const { sections, user } = sample()
  await replica.accept(sections)
  const before = await rowVersions()
  await expect(
    replica.accept({ users: [{ name: 'B', email: 'b@b.c', api_keys: [keyEntry(user)] }] }),
  ).rejects.toThrow('users[0].api_keys[0].value: is already the key of another owner')
  expect(await rowVersions()).toEqual(before)
})

test('ten thousand keys are seeded and read within seconds', async () => {
  const replica = await startReplica()
  const raws = Array.from({ length: 10_000 }, () => generateKey().raw)
  const users = Array.from({ length: 100 }, (_, u) => ({
    name: `User ${u}`,
    email: `user-${u}@example.com`,
    api_keys: raws
      .slice(u * 100, u * 100 + 100)
      .map((raw, i) => ({ ...keyEntry(raw), name: `${i}` })),
  }))
  await replica.accept({ users })
  const before = await rowVersions()
  const start = performance.now()
  await replica.accept({ users })
  expect(performance.now() - start).toBeLessThan(3_000)
  expect(await rowVersions()).toEqual(before)
  for (const raw of [raws[0], raws[9_999]]) expect(await replica.ask(raw ?? '')).toBe('accepted')
})
