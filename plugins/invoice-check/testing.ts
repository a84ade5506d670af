import { afterAll, beforeAll } from 'bun:test'
import type { Database } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import accounting from '../accounting/index.ts'

/** Random numbers from 0 to 1, the same for a seed. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Columns of a call in the ledger that a test may choose; counts and pico-USD are integers. */
export interface LedgerCall {
  readonly utc_day: string
  readonly upstream_model: string
  readonly provider_key?: string
  readonly resolved_model_key?: string
  readonly pricing_model?: string
  readonly pricing_provider_id?: string
  readonly rate_id?: string
  readonly pricing_status?: string
  readonly unpriced_reason?: string
  readonly uncached_input_tokens?: number
  readonly cache_read_tokens?: number
  readonly cache_write_tokens?: number
  readonly completion_tokens?: number
  readonly reasoning_tokens?: number
  readonly cost_pico_usd?: string
  /** The charge is rejected. */
  readonly reason?: string
}

/** A database with the tables of the ledger. */
export function useLedger() {
  let own: TestDatabase
  let database: Database
  beforeAll(async () => {
    own = await createTestDatabase()
    await own.forPlugin('plugin.accounting', accounting.manifest.migrations ?? [])
    database = await own.forPlugin('plugin.invoice-check', [])
  })
  afterAll(() => own.drop())
  return {
    get database() {
      return database
    },
    get url() {
      return own.url
    },
    async fill(calls: readonly LedgerCall[]) {
      await own.sql`truncate accounting.usage_cost_events, accounting.budget_rejected_charges`
      const [kept, rejected] = [
        calls.filter(({ reason }) => reason === undefined),
        calls.filter(({ reason }) => reason !== undefined),
      ]
      await insertCalls(own.sql, 'usage_cost_events', kept)
      await insertCalls(own.sql, 'budget_rejected_charges', rejected)
    },
  }
}

/** Writes calls as ledger rows. */
export async function insertCalls(
  sql: TestDatabase['sql'],
  table: 'usage_cost_events' | 'budget_rejected_charges',
  calls: readonly LedgerCall[],
): Promise<void> {
  const rows = calls.map((call) => ({
    event_id: Bun.randomUUIDv7(),
    request_id: Bun.randomUUIDv7(),
    ownership_scope_key: 'user:u1',
    owner_kind: 'user',
    user_id: 'u1',
    api_key_id: 'k1',
    operation: 'chat_completions',
    model_key: 'm',
    resolved_model_key: 'm',
    provider_key: 'vendor',
    pricing_model: call.upstream_model,
    pricing_status: 'priced',
    dispatched_at: `${call.utc_day}T12:00:00Z`,
    occurred_at: `${call.utc_day}T12:00:01Z`,
    ...call,
  }))
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].join(', ')
  if (columns === '') return
  await sql.unsafe(
    `insert into accounting.${table} (${columns})
      select ${columns} from jsonb_populate_recordset(null::accounting.${table}, $1::jsonb)`,
    [sql.json(rows as never)],
  )
}
