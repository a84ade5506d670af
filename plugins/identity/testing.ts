import { afterEach, beforeEach, setDefaultTimeout } from 'bun:test'
import type { AuditEntry } from 'model-gateway/admin'
import { type ConfigSnapshot, snapshotListeners, type Welcome, welcome } from 'model-gateway/host'
import { type Identity, identity } from 'model-gateway/identity'
import {
  type Capabilities,
  type Command,
  commands,
  type Disposer,
  type ExtensionPoint,
  GatewayError,
  Secret,
} from 'model-gateway/plugin'
import pino from 'pino'
import { openDatabase } from '../../kernel/storage/database.ts'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { noTelemetry } from '../../test/harness/telemetry.ts'
import plugin from './index.ts'
import { generateKey } from './keys.ts'

/** The migrated database of the running test. */
export let db: TestDatabase
let replicas: Replica[] = []

/** Creates a database for each test of the file, and stops the replicas that it starts. */
export function useDatabase(): void {
  setDefaultTimeout(15_000)
  beforeEach(async () => {
    db = await createTestDatabase()
    await db.forPlugin(plugin.manifest.id, plugin.manifest.migrations ?? [])
  })
  afterEach(async () => {
    for (const replica of replicas) await replica.stop()
    await db.drop()
  })
}

export interface Replica {
  readonly identity: Identity
  readonly create: Command
  readonly welcome: Welcome
  readonly warnings: { path: string; msg: string }[]
  /** What was written to the audit log. */
  readonly audited: AuditEntry[]
  accept(sections: Sections): Promise<void>
  /** The gateway's answer to the key: `accepted` or an error code. */
  ask(raw: string): Promise<string>
  clock: { skipMs: number }
  stop(): Promise<void>
}

export type Sections = Partial<
  Record<'teams' | 'users' | 'service_accounts', readonly unknown[]> & { auth: object }
>

/** The plugin, set up with a separate connection pool, as in another process. */
export async function startReplica(options: { deaf?: boolean } = {}): Promise<Replica> {
  const database = await openDatabase(db.url)
  const capability = database.forPlugin(plugin.manifest.id)
  const clock = { skipMs: 0 }
  const timers: NodeJS.Timeout[] = []
  const warnings: { path: string; msg: string }[] = []
  const audited: AuditEntry[] = []
  const trail = { write: async (_: unknown, entry: AuditEntry) => void audited.push(entry) }
  const points = new Map<string, unknown[]>()
  const capabilities: Pick<Capabilities, 'database' | 'schedule' | 'clock'> = {
    database: options.deaf ? { ...capability, listen: async () => () => {} } : capability,
    schedule: {
      every(ms, task) {
        // One that is at it when the database goes fails.
        timers.push(setInterval(() => void Promise.try(task).catch(() => {}), ms))
      },
    },
    clock: { now: () => new Date(Date.now() + clock.skipMs) },
  }
  const dispose = (await plugin.setup({
    ...capabilities,
    config: {},
    uses: { audit: () => trail, budgets: () => undefined },
    log: pino({ level: 'warn' }, { write: (line: string) => warnings.push(JSON.parse(line)) }),
    signal: new AbortController().signal,
    ...noTelemetry,
    provide: <T>(point: ExtensionPoint<T>, implementation: T) =>
      void points.set(point.name, [...(points.get(point.name) ?? []), implementation]),
  })) as Disposer
  const first = <T>(point: ExtensionPoint<T>) => points.get(point.name)?.[0] as T
  const replica: Replica = {
    identity: first(identity),
    create: first(commands),
    welcome: first(welcome),
    warnings,
    audited,
    clock,
    async accept(sections) {
      const listener = first(snapshotListeners)
      await listener.check?.(snapshotOf(sections))
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
      replicas = replicas.filter((other) => other !== replica)
      for (const timer of timers) clearInterval(timer)
      await dispose()
      await database.close()
    },
  }
  replicas.push(replica)
  return replica
}

function _throwMissing(name: string): never {
  throw new Error(`these tests have no ${name}`)
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

export async function until(condition: () => Promise<boolean>, ms: number): Promise<number> {
  const start = performance.now()
  while (!(await condition())) {
    if (performance.now() - start > ms) throw new Error(`not within ${ms} ms`)
    await Bun.sleep(5)
  }
  return performance.now() - start
}

const budget = { cadence: 'monthly', amount_usd: '10', hard_limit: true, timezone: 'UTC' }

/** An entry of `api_keys`, named main. */
export const keyEntry = (raw: string, more: object = { models: ['small'] }) => ({
  name: 'main',
  value: new Secret(raw),
  ...more,
})

/** A team with a user and a service account, and the raw key of each. */
export function sample() {
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
export async function rowVersions(): Promise<unknown> {
  return await db.sql`
    select 't' as t, id::text, xmin::text from identity.teams
    union all select 'u', id::text, xmin::text from identity.users
    union all select 'm', user_id::text, xmin::text from identity.team_memberships
    union all select 's', id::text, xmin::text from identity.service_accounts
    union all select 'k', id::text, xmin::text from identity.api_keys
    union all select 'r', id::text, xmin::text from identity.revision
    order by 1, 2`
}
