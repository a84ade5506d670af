import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Accounting, PricingSource } from 'model-gateway/accounting'
import type { ConfigSnapshot, SnapshotListener } from 'model-gateway/host'
import type { Directory, Identity } from 'model-gateway/identity'
import { ConfigError, type HealthCheck } from 'model-gateway/plugin'
import pino from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { noTelemetry } from '../../test/harness/telemetry.ts'
import { openSpool } from '../_shared/spool.ts'
import type { BudgetConfig } from './config.ts'
import plugin from './index.ts'
import { ledgerRow, usageMissing } from './row.ts'
import {
  call,
  closeAll,
  empty,
  migrations,
  serviceAccount,
  temporaryFolder,
  user,
} from './testing.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
afterEach(async () => {
  await closeAll()
  await empty(database.sql)
})

const directory: Directory = {
  users: [
    { id: 'u1', email: 'ada@example.com', name: 'Ada', status: 'active', team: undefined },
    { id: 'u2', email: 'bob@example.com', name: 'Bob', status: 'active', team: undefined },
  ],
  serviceAccounts: [{ id: 's1', key: 's1', name: 'S1', teamId: 't1' }],
}

/** The plugin as the gateway sets it up. */
async function setUp(files = temporaryFolder(), owners = async () => directory) {
  const provided = new Map<string, unknown>()
  const scheduled: (() => unknown)[] = []
  let ownersChanged = () => {}
  const warnings: unknown[] = []
  const dispose = await plugin.setup({
    config: {},
    log: pino({ level: 'warn' }, { write: (line) => warnings.push(JSON.parse(line)) }),
    signal: new AbortController().signal,
    ...noTelemetry,
    provide: (point, implementation) => provided.set(point.name, implementation),
    database: await database.forPlugin('plugin.accounting', migrations),
    schedule: { every: (_ms, work) => void scheduled.push(work) },
    clock: { now: () => new Date('2026-03-31T12:00:00Z') },
    files: { directory: () => files },
    uses: {
      prices: () =>
        ({
          resolve: () => ({ status: 'priced', costPicoUsd: 400n, rateId: 'r' }),
        }) as PricingSource,
      identity: () =>
        ({
          directory: owners,
          onChange(listener: () => void) {
            ownersChanged = listener
            return () => {}
          },
        }) as unknown as Identity,
      trail: () => undefined,
      sinks: () => [],
    },
  })
  const listener = provided.get('snapshot_listeners') as SnapshotListener
  return {
    accounting: provided.get('accounting') as Accounting,
    health: provided.get('health_checks') as HealthCheck,
    warnings,
    async load(sections: Record<string, unknown>) {
      await listener.check?.(snapshot(sections))
      const putIntoForce = await listener.prepare(snapshot(sections))
      putIntoForce()
    },
    ownersChanged: () => ownersChanged(),
    /** Runs all periodic work once. */
    async later() {
      for (const work of scheduled) await work()
    },
    dispose: async () => await dispose?.(),
  }
}

function snapshot(sections: Record<string, unknown>): ConfigSnapshot {
  const all: Record<string, unknown> = {
    accounting: { abort_drain_secs: 10, commit_timeout_ms: 2000 },
    budget_alerts: {
      email: { from: 'g@example.com', poll_interval_secs: 30, batch_size: 25, transport: 'log' },
    },
    budgets: { users: { model_defaults: [] } },
    users: [],
    service_accounts: [],
    ...sections,
  }
  const section = (({ name }) => all[name]) as ConfigSnapshot['section']
  return { version: 'v1', models: new Map(), providers: new Map(), section }
}

const daily = (amount_usd: string): BudgetConfig => ({
  cadence: 'daily',
  amount_usd,
  hard_limit: true,
  unpriced: 'allow',
  timezone: 'UTC',
})
const budgets = async () => [
  ...(await database.sql`
    select scope_key, scope_kind, budget_source, active, cadence, amount_pico_usd, changed_xid::text
    from accounting.budgets order by scope_key`),
]

/** Writes a row into the spool of a dead process. */
async function leaveBehind(directory: string): Promise<void> {
  const spool = openSpool({ directory, name: 'ledger', log: pino({ level: 'silent' }) })
  const row = ledgerRow(call({ requestId: 'left' }), usageMissing(), new Date(), [], undefined)
  await spool.append([JSON.stringify(row)])
  await spool.close()
}

test('writes the spool of a dead process, from the start', async () => {
  const folder = temporaryFolder()
  await leaveBehind(folder)
  const { load, dispose } = await setUp(folder)
  await load({})
  await dispose()
  const rows = await database.sql`select request_id from accounting.usage_cost_events`
  expect([...rows]).toEqual([{ request_id: 'left' }])
})

test('writes the spool of a process that dies later', async () => {
  const folder = temporaryFolder()
  const { load, later, dispose } = await setUp(folder)
  await load({})
  await leaveBehind(folder)
  await later()
  await dispose()
  const rows = await database.sql`select request_id from accounting.usage_cost_events`
  expect([...rows]).toEqual([{ request_id: 'left' }])
})

test("deletes expired claims of callers' ids", async () => {
  const { load, later, dispose } = await setUp()
  await load({})
  await database.sql`
    insert into accounting.request_claims
    select name, 'x', gen_random_uuid(), now() + age
    from (values ('old', interval '-1 s'), ('new', interval '1 hour')) as claims (name, age)`
  await later()
  const rows = await database.sql`select request_id from accounting.request_claims`
  expect([...rows]).toEqual([{ request_id: 'new' }])
  await dispose()
})

test('new owners get their budgets before shutdown, or later if they cannot be read', async () => {
  const { users } = directory
  let owners = async (): Promise<Directory> => ({ ...directory, users: users.slice(0, 1) })
  const { load, ownersChanged, later, warnings, dispose } = await setUp(temporaryFolder(), () =>
    owners(),
  )
  await load({ budgets: { users: { default: daily('1'), model_defaults: [] } } })
  expect(await budgets()).toHaveLength(1)
  owners = () => Promise.reject(new Error('away'))
  ownersChanged()
  while (warnings.length === 0) await Bun.sleep(5)
  owners = async () => directory
  await later()
  expect(await budgets()).toHaveLength(2)

  owners = async () => {
    await Bun.sleep(50)
    return { ...directory, users: users.flatMap((user) => [user, { ...user, id: `${user.id}-2` }]) }
  }
  ownersChanged()
  await dispose()
  expect(await budgets()).toHaveLength(4)
})

test('alerts are emailed in batches, at the configured interval, and not after shutdown', async () => {
  const { load, later, dispose } = await setUp()
  const email = { from: 'g@example.com', batch_size: 1, transport: 'log' }
  await load({
    budget_alerts: { email: { ...email, poll_interval_secs: 0.3 } },
    budgets: {
      users: { default: daily('0'), model_defaults: [{ model: 'm', budget: daily('0') }] },
    },
  })
  const sent = async () => {
    const [row] = await database.sql`
      select count(*)::int as n from accounting.budget_alert_deliveries where status = 'sent'`
    return row?.n
  }
  await later()
  expect(await sent()).toBe(1)
  await Bun.sleep(300)
  await later()
  expect(await sent()).toBe(2)
  await dispose()
  await Bun.sleep(300)
  await later().catch(() => {})
  expect(await sent()).toBe(2)
})

test('shuts down with everything written', async () => {
  const { accounting, load, dispose } = await setUp()
  await load({})
  const settled = [accounting.settle(call()), accounting.settle(call())]
  await dispose()
  const [row] = await database.sql`select count(*) as n from accounting.usage_cost_events`
  expect(row?.n).toBe(2n)
  await Promise.all(settled)
})

test('budgets of the config take effect with it, and follow each new one', async () => {
  const { accounting, load, dispose } = await setUp()
  const serviceAccounts = [{ key: 's1', budget: daily('1') }]
  await load({
    budgets: {
      users: {
        default: daily('0'),
        model_defaults: [{ model: 'small-model', budget: daily('2') }],
      },
    },
    users: [{ email: 'ada@example.com', budget: daily('3') }],
    service_accounts: serviceAccounts,
  })
  expect(await budgets()).toEqual([
    expect.objectContaining({ scope_key: 'budget:v1:service_account:s1', active: true }),
    expect.objectContaining({
      scope_key: 'budget:v1:user:u1',
      scope_kind: 'user',
      budget_source: 'config_user_override',
      amount_pico_usd: '3000000000000',
    }),
    expect.objectContaining({ scope_key: 'budget:v1:user:u1:model:small-model' }),
    expect.objectContaining({
      scope_key: 'budget:v1:user:u2',
      budget_source: 'config_user_default',
    }),
    expect.objectContaining({
      scope_key: 'budget:v1:user:u2:model:small-model',
      scope_kind: 'user_model',
      budget_source: 'config_user_model_default',
    }),
  ])
  const today = { dispatchedAt: new Date('2026-03-31T12:00:00Z') }
  accounting.checkOwner(serviceAccount('s1'))
  expect(accounting.admit(call(today))).toBeUndefined()
  expect(() => accounting.admit(call({ ...today, principal: user('u2') }))).toThrow('used up')

  await load({ service_accounts: serviceAccounts })
  expect(accounting.admit(call({ ...today, principal: user('u2') }))).toBeUndefined()
  expect((await budgets()).map(({ active }) => active)).toEqual([true, true, false, false, false])
  await dispose()
})

test('the same config again writes nothing', async () => {
  const config = { budgets: { users: { default: daily('1'), model_defaults: [] } } }
  const first = await setUp()
  await first.load(config)
  const before = await budgets()
  await first.load(config)
  await first.dispose()
  const second = await setUp()
  await second.load(config)
  expect(await budgets()).toEqual(before)
  await second.dispose()
})

test('replicas that start concurrently create each budget once', async () => {
  const replicas = [await setUp(), await setUp(), await setUp()]
  const config = { budgets: { users: { default: daily('1'), model_defaults: [] } } }
  await Promise.all(replicas.map(({ load }) => load(config)))
  expect(await budgets()).toHaveLength(2)
  for (const { dispose } of replicas) await dispose()
})

test('an administrator’s budget stays, and a warning names the difference to the file', async () => {
  const { load, warnings, dispose } = await setUp()
  const config = { users: [{ email: 'ada@example.com', budget: daily('3') }] }
  await load(config)
  await database.sql`update accounting.budgets set budget_source = 'manual', active = false`
  await load(config)
  expect(await budgets()).toEqual([expect.objectContaining({ active: false })])
  expect(warnings).toEqual([expect.objectContaining({ path: 'users[0].budget' })])
  await dispose()
})

test('settings take effect with the config', async () => {
  const { accounting, load, dispose } = await setUp()
  await load({ accounting: { abort_drain_secs: 1.5, commit_timeout_ms: 10 } })
  expect(accounting.abortDrainMs()).toBe(1500)
  await dispose()
})

test('a config with an unwritable or different spool directory is refused', async () => {
  const blocked = join(temporaryFolder(), 'file')
  writeFileSync(blocked, '')
  const unusable = await setUp(blocked)
  const failure = await unusable.load({}).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ConfigError)
  expect((failure as ConfigError).problems[0]?.path).toEqual(['accounting', 'spool_dir'])
  await unusable.dispose()

  const { load, dispose } = await setUp()
  await load({})
  const elsewhere = { abort_drain_secs: 10, commit_timeout_ms: 2000, spool_dir: temporaryFolder() }
  await expect(load({ accounting: elsewhere })).rejects.toThrow('restart')
  await dispose()
})

test('health: ok while the database is reachable', async () => {
  const { health, load, dispose } = await setUp()
  await load({})
  expect(health.check()).toEqual({
    status: 'ok',
    details: { spool_depth: 0, database: 'up' },
  })
  await dispose()
})

test('health: failing when neither the database nor the spool can be written', async () => {
  const folder = join(temporaryFolder(), 'spool')
  mkdirSync(folder)
  const { accounting, health, load, dispose } = await setUp(folder)
  await load({})
  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'in the way')
  await database.sql`alter table accounting.usage_cost_events rename to away`
  try {
    await expect(accounting.settle(call())).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(health.check()).toEqual({
      status: 'failing',
      details: { spool_depth: 0, database: 'away' },
    })
  } finally {
    await database.sql`alter table accounting.away rename to usage_cost_events`
    await dispose()
  }
})
