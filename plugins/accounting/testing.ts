import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PriceQuery, SettlementRequest } from 'model-gateway/accounting'
import type { Principal } from 'model-gateway/identity'
import type { Database, Plugin } from 'model-gateway/plugin'
import type { Usage } from 'model-gateway/wire'
import pino from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { openSpool } from '../_shared/spool.ts'
import { type AccountingOptions, createAccounting, type RunningAccounting } from './accounting.ts'
import type { BudgetEntry, BudgetSettings } from './budget.ts'
import { createBudgetStore } from './budget-store.ts'
import type { StoredItem } from './charge-wire.ts'
import plugin from './index.ts'
import type { LedgerRow } from './row.ts'
import { createStore, type Store } from './store.ts'

export const migrations = plugin.manifest.migrations ?? []

/**
 * A database for the tests of one file, with the plugin's tables, which are emptied after each, and
 * with those of `others`.
 */
export function useDatabase(...others: readonly { readonly manifest: Plugin['manifest'] }[]) {
  let own: TestDatabase
  let database: Database
  beforeAll(async () => {
    own = await createTestDatabase()
    database = await own.forPlugin('plugin.accounting', migrations)
    for (const { manifest } of others) await own.forPlugin(manifest.id, manifest.migrations ?? [])
  })
  afterAll(() => own.drop())
  afterEach(async () => {
    await closeAll()
    await empty(own.sql)
  })
  return {
    get sql() {
      return own.sql
    },
    /** The database as the plugin uses it. */
    get database() {
      return database
    },
  }
}

export function user(id: string): Principal {
  return {
    apiKeyId: `key-of-${id}`,
    owner: {
      kind: 'user',
      userId: id,
      email: `${id}@example.test`,
      name: id,
      team: { id: 't1', key: 'team-one' },
      requestLoggingEnabled: true,
    },
    ownershipScopeKey: `user:${id}`,
    grants: 'all',
    allowlists: [],
  }
}

export function serviceAccount(id: string): Principal {
  const team = { id: 't2', key: 'team-two' }
  return {
    apiKeyId: `key-of-${id}`,
    owner: { kind: 'service_account', serviceAccountId: id, key: id, name: id, team },
    ownershipScopeKey: `service_account:${id}`,
    grants: new Set(),
    allowlists: [],
  }
}

export function usage(counts: Partial<Usage> = {}): Usage {
  return {
    uncachedInput: 100,
    cacheRead: undefined,
    cacheWrite: undefined,
    output: 20,
    reasoning: undefined,
    promptTokens: 100,
    totalTokens: 120,
    ...counts,
  }
}

/** A successful call with 100 input and 20 output tokens, and a generated id. */
export function call(changes: Partial<SettlementRequest> = {}): SettlementRequest {
  return {
    requestId: Bun.randomUUIDv7(),
    callerChoseRequestId: false,
    principal: user('u1'),
    operation: 'chat_completions',
    requestedModel: 'fast',
    resolvedModel: 'small-model',
    provider: 'main',
    upstreamModel: ' vendor/small ',
    dispatchedAt: new Date('2026-03-31T23:59:59.999Z'),
    pricing: { pricingProviderId: 'p', model: 'vendor/small' },
    usage: usage(),
    configVersion: 'v1',
    billingModifiers: [],
    succeeded: true,
    ...changes,
  }
}

/** One gateway process. */
export interface TestAccounting extends RunningAccounting {
  readonly store: Store
  /** Size of each batch of ledger rows. */
  readonly batches: readonly number[]
  /** Sets or deactivates budgets as an administrator does, and reloads at once. */
  budget(entries: readonly BudgetEntry[]): Promise<void>
}

export interface TestAccountingOptions {
  readonly commitTimeoutMs?: number
  readonly spoolDirectory?: string
  /** The time of the clock. */
  readonly now?: () => Date
  readonly low?: AccountingOptions['low']
}

const opened: RunningAccounting[] = []
const folders: string[] = []

export function openAccounting(
  database: Database,
  options: TestAccountingOptions = {},
): TestAccounting {
  const { commitTimeoutMs = 2000, now = () => new Date('2026-04-01T00:00:05Z') } = options
  const directory = options.spoolDirectory ?? temporaryFolder()
  const store = createStore(database)
  const batches: number[] = []
  const log = pino({ level: 'silent' })
  const accounting = createAccounting({
    store: {
      ...store,
      writeLedger(rows: readonly LedgerRow[]) {
        batches.push(rows.length)
        return store.writeLedger(rows)
      },
    },
    pricing: () => ({ resolve: price }),
    settings: () => ({ abortDrainMs: 10_000, commitTimeoutMs }),
    openSpool: (adopted) => openSpool({ directory, name: 'ledger', log, adopted }),
    clock: { now },
    log,
    low: options.low ?? (() => {}),
  })
  opened.push(accounting)
  return {
    ...accounting,
    store,
    batches,
    async budget(entries) {
      await createBudgetStore(database).changeAll(() => entries)
      await accounting.refresh()
    },
  }
}

/** Closes all processes. */
export async function closeAll({ keepFolders = false } = {}): Promise<void> {
  for (const accounting of opened.splice(0)) await accounting.close()
  if (keepFolders) return
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

/** Settings of a budget; amounts in pico-USD. */
export function dailyBudget(
  userId: string,
  amountPicoUsd: bigint,
  changes: Partial<BudgetSettings> = {},
): BudgetEntry & { readonly active: true } {
  const settings: BudgetSettings = {
    cadence: 'daily',
    amountPicoUsd,
    hardLimit: true,
    unpriced: 'allow',
    timezone: 'UTC',
  }
  return {
    scope: { kind: 'user', userId },
    source: 'manual',
    active: true,
    settings: { ...settings, ...changes },
  }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'accounting-'))
  folders.push(folder)
  return folder
}

/** Empties every table. */
export async function empty(sql: Database['sql']): Promise<void> {
  await sql`truncate accounting.usage_cost_events, accounting.budget_rejected_charges,
    accounting.spend_counters, accounting.request_claims, accounting.budgets,
    accounting.usage_rollups, accounting.counter_changes, accounting.budget_alerts,
    accounting.budget_alert_deliveries`
}

/** Pico-USD per token of input and output, and per search. */
const rates: Readonly<Record<string, readonly [bigint, bigint, bigint]>> = {
  'vendor/small': [2n, 10n, 300n],
  'vendor/dear': [1_000_000n, 1_000_000n, 0n],
}

function price({ identity, usage }: PriceQuery) {
  const rate = rates[identity.model]
  if (rate === undefined) return { status: 'unpriced', reason: 'model_not_found' } as const
  if (usage.uses?.file_search !== undefined) {
    return { status: 'unpriced', reason: 'unsupported_billing_modifier' } as const
  }
  const [input, output, search] = rate
  const used = [usage.uncachedInput ?? 0, usage.output ?? 0, usage.uses?.web_search ?? 0] as const
  const items = [
    { unit: 'input', quantity: used[0], picoUsdPerUnit: input },
    { unit: 'output', quantity: used[1], picoUsdPerUnit: output },
    { unit: 'web_search', quantity: used[2], picoUsdPerUnit: search },
  ]
  return {
    status: usage.doubt === undefined ? 'priced' : 'legacy_estimated',
    costPicoUsd: BigInt(used[0]) * input + BigInt(used[1]) * output + BigInt(used[2]) * search,
    rateId: 'rate-1',
    items: items.filter(({ quantity }) => quantity > 0),
  } as const
}

/** Transactions of other connections on the database. */
export async function openTransactions(sql: Database['sql']): Promise<number> {
  const rows = await sql`
    select from pg_stat_activity where datname = current_database() and xact_start is not null
      and pid <> pg_backend_pid()`
  return rows.length
}

export async function readLedger(sql: Database['sql']) {
  return [...(await sql`select * from accounting.usage_cost_events order by request_id`)]
}

/** Spent by scope key and day. */
export async function readCounters(sql: Database['sql']): Promise<Record<string, string>> {
  const rows = await sql`
    select scope_key, utc_day, spent from accounting.spend_counters where spent > 0 order by 1, 2`
  return Object.fromEntries(rows.map((row) => [`${row.scope_key} ${row.utc_day}`, row.spent]))
}

interface ChargeRow {
  readonly user_id: string | null
  readonly service_account_id: string | null
  readonly model_key: string
  readonly resolved_model_key: string
  readonly provider_key: string
  readonly upstream_model: string
  readonly pricing_status: string
  readonly prompt_tokens: bigint | null
  readonly total_tokens: bigint | null
  readonly cost_pico_usd: bigint | null
  readonly line_items: readonly StoredItem[] | null
  readonly dispatched_at: Date
}

const HALF_DAY_MS = 43_200_000

function addTo(totals: Map<string, bigint>, key: string, amount: bigint): void {
  if (amount !== 0n) totals.set(key, (totals.get(key) ?? 0n) + amount)
}

/** The counters and roll-ups, computed from the rows in a different way than in SQL. */
function foldRows(rows: readonly ChargeRow[], kind: 'spent' | 'rejected') {
  const counters = new Map<string, bigint>()
  const rollups = new Map<string, bigint>()
  for (const row of rows) {
    const cost = row.cost_pico_usd ?? 0n
    const user = `budget:v1:user:${row.user_id}`
    const scopes =
      row.user_id === null
        ? [`budget:v1:service_account:${row.service_account_id}`]
        : [
            user,
            `${user}:model:${row.resolved_model_key}`,
            `${user}:upstream_model:${row.upstream_model.trim()}`,
          ]
    const day = row.dispatched_at.toISOString().slice(0, 10)
    for (const scope of scopes) addTo(counters, `${scope} ${day} ${kind}`, cost)
    const start = Math.floor(row.dispatched_at.getTime() / HALF_DAY_MS) * HALF_DAY_MS
    const owner = row.user_id ?? row.service_account_id
    const key = [
      new Date(start).toISOString(),
      owner,
      row.model_key,
      row.resolved_model_key,
      row.provider_key,
      row.upstream_model,
      row.pricing_status,
    ]
    const sums: Record<string, bigint> =
      kind === 'spent'
        ? {
            requests: 1n,
            prompt_tokens: row.prompt_tokens ?? 0n,
            total_tokens: row.total_tokens ?? 0n,
            cost_pico_usd: cost,
          }
        : { rejected_count: 1n, rejected_pico_usd: cost }
    for (const [name, amount] of Object.entries(sums)) addTo(rollups, `${key} ${name}`, amount)
  }
  return { counters, rollups }
}

/** The cost of a row, summed from its line items; null without both. */
function itemsTotal({ line_items: items }: ChargeRow): bigint | null {
  if (items === null) return null
  return items.reduce((sum, [, quantity, each]) => sum + BigInt(quantity) * BigInt(each), 0n)
}

/**
 * Σ line items = ledger = counters = roll-ups, and the same for what hard limits rejected, to the
 * pico-dollar.
 */
export async function expectBooksToBalance(sql: Database['sql']): Promise<void> {
  const rows = await sql<ChargeRow[]>`select * from accounting.usage_cost_events`
  const charges = await sql<ChargeRow[]>`
    select * from accounting.budget_rejected_charges where reason = 'budget_exceeded'`
  for (const row of [...rows, ...charges]) expect(itemsTotal(row)).toBe(row.cost_pico_usd)
  const spent = foldRows(rows, 'spent')
  const rejected = foldRows(charges, 'rejected')
  const counters = new Map<string, bigint>()
  for (const row of await sql`select * from accounting.spend_counters`) {
    const key = `${row.scope_key} ${row.utc_day}`
    addTo(counters, `${key} spent`, BigInt(row.spent))
    addTo(counters, `${key} rejected`, BigInt(row.rejected))
  }
  const rollups = new Map<string, bigint>()
  const columns = [
    'requests',
    'prompt_tokens',
    'total_tokens',
    'cost_pico_usd',
    'rejected_count',
    'rejected_pico_usd',
  ]
  for (const row of await sql`select * from accounting.usage_rollups`) {
    const key = [
      row.bucket_start.toISOString(),
      row.owner_id,
      row.model_key,
      row.resolved_model_key,
      row.provider_key,
      row.upstream_model,
      row.pricing_status,
    ]
    for (const name of columns) addTo(rollups, `${key} ${name}`, BigInt(row[name]))
  }
  const sorted = (...maps: Map<string, bigint>[]) => maps.flatMap((map) => [...map]).sort()
  expect(sorted(counters)).toEqual(sorted(spent.counters, rejected.counters))
  expect(sorted(rollups)).toEqual(sorted(spent.rollups, rejected.rollups))
}
