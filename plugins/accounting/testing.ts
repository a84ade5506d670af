import { expect } from 'bun:test'
import type {
  Database,
  PriceQuery,
  Principal,
  SettlementRequest,
  Usage,
} from 'model-gateway/plugin'
import pino from 'pino'
import { createAccounting } from './accounting.ts'
import plugin from './index.ts'
import type { LedgerRow } from './row.ts'
import { createStore } from './store.ts'

export const migrations = plugin.manifest.migrations ?? []

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

/** A successful call of 100 and 20 tokens, with an id of the gateway. */
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
    billingModifiers: [],
    succeeded: true,
    ...changes,
  }
}

/** One gateway process. */
export function openAccounting(database: Database) {
  const store = createStore(database)
  const batches: number[] = []
  const accounting = createAccounting({
    store: {
      ...store,
      writeLedger(rows: readonly LedgerRow[]) {
        batches.push(rows.length)
        return store.writeLedger(rows)
      },
    },
    pricing: () => ({ resolve: price }),
    clock: { now: () => new Date('2026-04-01T00:00:05Z') },
    log: pino({ level: 'silent' }),
  })
  return { ...accounting, store, batches }
}

/** Pico-USD per token of input and output. */
const rates: Readonly<Record<string, readonly [bigint, bigint]>> = {
  'vendor/small': [2n, 10n],
  'vendor/dear': [1_000_000n, 1_000_000n],
}

function price({ identity, usage }: PriceQuery) {
  const rate = rates[identity.model]
  if (rate === undefined) return { status: 'unpriced', reason: 'model_not_found' } as const
  return {
    status: usage.doubt === undefined ? 'priced' : 'legacy_estimated',
    costPicoUsd: BigInt(usage.uncachedInput ?? 0) * rate[0] + BigInt(usage.output ?? 0) * rate[1],
    rateId: 'rate-1',
  } as const
}

export async function readLedger(sql: Database['sql']) {
  return [...(await sql`select * from accounting.usage_cost_events order by request_id`)]
}

/** Spent by scope key and day. */
export async function readCounters(sql: Database['sql']): Promise<Record<string, string>> {
  const rows = await sql`
    select scope_key, utc_day, spent from accounting.spend_counters order by 1, 2`
  return Object.fromEntries(rows.map((row) => [`${row.scope_key} ${row.utc_day}`, row.spent]))
}

export async function expectCountersToEqualLedger(sql: Database['sql']): Promise<void> {
  const sums: Record<string, bigint> = {}
  for (const row of await readLedger(sql)) {
    const user = `budget:v1:user:${row.user_id}`
    const scopes =
      row.user_id === null
        ? [`budget:v1:service_account:${row.service_account_id}`]
        : [
            user,
            `${user}:model:${row.resolved_model_key}`,
            `${user}:upstream_model:${row.upstream_model.trim()}`,
          ]
    for (const scope of row.cost_pico_usd ? scopes : []) {
      const key = `${scope} ${row.utc_day}`
      sums[key] = (sums[key] ?? 0n) + row.cost_pico_usd
    }
  }
  const expected = Object.entries(sums).map(([key, sum]) => [key, String(sum)])
  expect(await readCounters(sql)).toEqual(Object.fromEntries(expected))
}
