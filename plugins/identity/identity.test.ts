import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import {
  type Capabilities,
  type Command,
  type ConfigSnapshot,
  commands,
  type Disposer,
  type ExtensionPoint,
  GatewayError,
  type Identity,
  identity,
  Secret,
  type SnapshotListener,
  snapshotListeners,
  UsageError,
  type Welcome,
  welcome,
} from 'model-gateway/plugin'
import pino from 'pino'
import { openDatabase } from '../../kernel/storage/index.ts'
import { createTestDatabase, type TestDatabase, testServer } from '../../test/harness/database.ts'
import { noTelemetry } from '../../test/harness/telemetry.ts'
import plugin from './index.ts'
import { generateKey } from './keys.ts'

setDefaultTimeout(15_000)

let db: TestDatabase
let replicas: Replica[] = []

beforeEach(async () => {
  db = await createTestDatabase()
  await db.forPlugin(plugin.manifest.id, plugin.manifest.migrations ?? [])
})
afterEach(async () => {
  for (const replica of replicas) await replica.stop()
  replicas = []
  await db.drop()
})

interface Replica {
  readonly identity: Identity
  readonly create: Command
  readonly welcome: Welcome
  readonly warnings: { path: string; msg: string }[]
  accept(sections: Sections): Promise<void>
  /** What the gateway answers to the key: `accepted` or a code. */
  ask(raw: string): Promise<string>
  clock: { skipMs: number }
  stop(): Promise<void>
}

type Sections = Partial<
  Record<'teams' | 'users' | 'service_accounts', readonly unknown[]> & { auth: object }
>

/** The plugin, set up with a pool of its own, as in a process of its own. */
async function startReplica(options: { deaf?: boolean } = {}): Promise<Replica> {
  const database = await openDatabase({ url: db.url, dataDir: '/nowhere' })
  const capability = database.forPlugin(plugin.manifest.id)
  const clock = { skipMs: 0 }
  const timers: NodeJS.Timeout[] = []
  const warnings: { path: string; msg: string }[] = []
  const points = new Map<string, unknown>()
  const capabilities: Pick<Capabilities, 'database' | 'schedule' | 'clock'> = {
    database: options.deaf ? { ...capability, listen: async () => () => {} } : capability,
    schedule: { every: (ms, task) => void timers.push(setInterval(() => void task(), ms)) },
    clock: { now: () => new Date(Date.now() + clock.skipMs) },
  }
  const dispose = (await plugin.setup({
    ...capabilities,
    config: {},
    log: pino({ level: 'warn' }, { write: (line: string) => warnings.push(JSON.parse(line)) }),
    signal: new AbortController().signal,
    ...noTelemetry,
    provide: <T>(point: ExtensionPoint<T>, implementation: T) =>
      void points.set(point.name, implementation),
  })) as Disposer
  const replica: Replica = {
    identity: points.get(identity.name) as Identity,
    create: points.get(commands.name) as Command,
    welcome: points.get(welcome.name) as Welcome,
    warnings,
    clock,
    async accept(sections) {
      const listener = points.get(snapshotListeners.name) as SnapshotListener
      const putIntoForce = await listener.prepare(snapshotOf(sections))
      putIntoForce()
    },
    async ask(raw) {
      try {
        await replica.identity.authenticate(raw)
        return 'accepted'
      } catch (error) {
        if (error instanceof GatewayError) return error.code
        throw error
      }
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await dispose()
      await database.close()
    },
  }
  replicas.push(replica)
  return replica
}

function snapshotOf(sections: Sections): ConfigSnapshot {
  const filled: Record<string, unknown> = {
    teams: [],
    users: [],
    service_accounts: [],
    ...sections,
    auth: { stale_max_secs: 300, ...sections.auth },
  }
  return {
    version: 'v',
    models: new Map(['demo', 'small', 'large'].map((id) => [id, {} as never])),
    providers: new Map(),
    section: (section) => filled[section.name] as never,
  }
}

async function until(condition: () => Promise<boolean>, ms: number): Promise<number> {
  const start = performance.now()
  while (!(await condition())) {
    if (performance.now() - start > ms) throw new Error(`not within ${ms} ms`)
    await Bun.sleep(5)
  }
  return performance.now() - start
}

const budget = { cadence: 'monthly', amount_usd: '10', hard_limit: true, timezone: 'UTC' }
const keyEntry = (raw: string, more: object = { models: ['small'] }) => ({
  name: 'main',
  value: new Secret(raw),
  ...more,
})

function sample() {
  const user = generateKey().raw
  const account = generateKey().raw
  const sections = {
    teams: [
      {
        key: 'core',
        name: 'Core',
        model_access: { mode: 'restricted', models: ['small', 'large'] },
      },
    ],
    users: [
      {
        name: 'Ada',
        email: 'Ada@Example.com',
        role: 'platform_admin',
        team: { key: 'core', role: 'owner' },
        request_logging_enabled: false,
        model_access: { mode: 'restricted', models: ['small'] },
        api_keys: [keyEntry(user, { all_models: true })],
      },
    ],
    service_accounts: [
      { key: 'ci', name: 'CI', team: 'core', budget, api_keys: [keyEntry(account)] },
    ],
  }
  return { user, account, sections }
}

/** Identity of every row version: changes with any write, even one of equal values. */
async function rowVersions(): Promise<unknown> {
  return await db.sql`
    select 't' as t, id::text, xmin::text from identity.teams
    union all select 'u', id::text, xmin::text from identity.users
    union all select 'm', user_id::text, xmin::text from identity.team_memberships
    union all select 's', id::text, xmin::text from identity.service_accounts
    union all select 'k', id::text, xmin::text from identity.api_keys
    union all select 'r', id::text, xmin::text from identity.revision
    order by 1, 2`
}

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

test('what an administrator did stays, and the file is told so', async () => {
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
    'users.0: ada@example.com was disabled by an administrator and stays so',
    'users.0.api_keys.0: the key main was revoked and stays so',
    'service_accounts.0.api_keys.0.value: the key main was rotated by an administrator; this value is not used',
  ])
  expect(await replica.ask(user)).toBe('api_key_revoked')
  expect(await replica.ask(account)).toBe('api_key_secret_mismatch')
  const [rotated] = await db.sql`select granted_models, secret_hash from identity.api_keys
    where user_id is null`
  expect(rotated).toEqual({ granted_models: ['large'], secret_hash: '0'.repeat(64) })
})

test('a key of the file that belongs to somebody else is refused, and nothing is written', async () => {
  const replica = await startReplica()
  const { sections, user } = sample()
  await replica.accept(sections)
  const before = await rowVersions()
  await expect(
    replica.accept({ users: [{ name: 'B', email: 'b@b.c', api_keys: [keyEntry(user)] }] }),
  ).rejects.toThrow('users.0.api_keys.0.value: is a key that belongs to another owner already')
  expect(await rowVersions()).toEqual(before)
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

test('a lost listening connection is made up for', async () => {
  const replica = await startReplica()
  const { sections, user } = sample()
  await replica.accept(sections)
  await db.sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`
  await db.sql`update identity.users set status = 'disabled'`
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
      'the database cannot be reached; keys are served from memory',
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
  replicas = []
  const used =
    await db.sql`select last_used_at from identity.api_keys where last_used_at is not null`
  expect(used).toHaveLength(1)
  expect(Date.now() - used[0]?.last_used_at.getTime()).toBeLessThan(5_000)
  expect(await revision()).toBe(before)
})

async function run(command: Command, line: string): Promise<string[]> {
  const lines: string[] = []
  await command.run(line.split(' '), (text) => lines.push(text))
  return lines
}

test('keys create prints a key that works at once, and nothing else', async () => {
  const [a, b] = [await startReplica(), await startReplica({ deaf: true })]
  const { sections } = sample()
  await a.accept(sections)
  await b.accept(sections)
  const [raw = '', ...rest] = await run(
    a.create,
    'keys --user ADA@example.com --model small --model=large --name mine --expires 90d'.slice(5),
  )
  expect(rest).toEqual([])
  const principal = await b.identity.authenticate(raw)
  expect(principal).toMatchObject({
    owner: { email: 'ada@example.com' },
    grants: new Set(['small', 'large']),
  })
  b.clock.skipMs = 90 * 86_400_000 + 1000
  await until(async () => (await b.ask(raw)) === 'api_key_expired', 2_500)
  const [row] = await db.sql`select name from identity.api_keys where id = ${principal.apiKeyId}`
  expect(row?.name).toBe('mine')

  const [forAccount = ''] = await run(a.create, '--service-account ci --model demo')
  expect((await a.identity.authenticate(forAccount)).owner).toMatchObject({ key: 'ci' })
})

test.each([
  ['--user nobody@example.com --all-models', 'there is no user with the e-mail nobody@example.com'],
  ['--service-account nix --model small', 'there is no service account with the key nix'],
  ['--user ada@example.com --model smal', 'there is no model smal'],
  ['--user ada@example.com', 'say which models'],
  ['--user ada@example.com --all-models --model small', 'say which models'],
  ['--all-models', 'say whose key it is'],
  ['--user ada@example.com --service-account ci --model small', 'say whose key it is'],
  ['--service-account ci --all-models', 'for users only'],
  ['--user ada@example.com --all-models --expires soon', 'is not a number of days or hours'],
  ['--user', '--user needs a value'],
  ['--usr ada@example.com', 'unknown argument --usr'],
])('keys create %s is refused', async (line, message) => {
  const replica = await startReplica()
  await replica.accept(sample().sections)
  const refused = await run(replica.create, line).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(UsageError)
  expect(String(refused)).toContain(message)
})

test('a quick start shows a working key and two curl lines, the next one how to make another', async () => {
  const replica = await startReplica()
  const sections: Sections = {
    users: [{ name: 'Demo', email: 'demo@example.com' }],
    auth: { quickstart_user: 'demo@example.com' },
  }
  await replica.accept(sections)
  const base = 'http://127.0.0.1:8080'
  const text = (await replica.welcome.lines(base)).join('\n')
  const raw = /gwk_\S+\.[\w-]+/.exec(text)?.[0] ?? ''
  expect((await replica.identity.authenticate(raw)).grants).toBe('all')
  const bodies = [...text.matchAll(/^curl .*'(\{.*\})'$/gm)].map(([line, body = '']) => {
    expect(line).toContain(`${base}/v1/chat/completions`)
    expect(line).toContain(raw)
    return JSON.parse(body)
  })
  expect(bodies.map(({ model, stream }) => ({ model, stream }))).toEqual([
    { model: 'demo', stream: undefined },
    { model: 'demo', stream: true },
  ])

  const again = (await replica.welcome.lines(base)).join('\n')
  expect(again).toContain('gateway keys create --user demo@example.com --all-models')
  expect(again).not.toContain('gwk_')

  await replica.accept({ ...sections, auth: {} })
  expect(await replica.welcome.lines(base)).toEqual([])
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
