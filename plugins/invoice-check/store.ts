import type { Database } from 'model-gateway/plugin'
import type { Day } from './line.ts'
import type { LedgerModel } from './model-names.ts'

/** Sums of ledger rows, or of rejected charges, by day, model and status. */
export interface LedgerSums extends LedgerModel {
  readonly day: Day
  readonly pricingProviderId: string | null
  readonly rateId: string | null
  readonly status: 'priced' | 'legacy_estimated' | 'unpriced' | 'usage_missing'
  readonly unpricedReason: string | null
  /** Reason of the rejection; null for ledger rows. */
  readonly rejection: string | null
  readonly rows: bigint
  readonly input: bigint
  readonly cacheRead: bigint
  readonly cacheWrite: bigint
  readonly output: bigint
  /** Part of `output`. */
  readonly reasoning: bigint
  /** Pico-USD. */
  readonly cost: bigint
}

export interface LedgerStore {
  /**
   * Sums of calls dispatched to these providers on days from `start` to before `end`, from one
   * snapshot.
   */
  sums(providers: readonly string[], start: Day, end: Day): Promise<readonly LedgerSums[]>
  /** Providers in the ledger. */
  providers(): Promise<readonly string[]>
}

/** The tables of the accounting plugin. */
const accounting = 'accounting'
const MOMENT = 'isolation level repeatable read read only'

const sumsOf = (table: string, rejection: string) => `
  select utc_day - date '1970-01-01' as day, trim(upstream_model) as upstream_model,
    pricing_model, resolved_model_key, pricing_provider_id, rate_id, pricing_status,
    unpriced_reason, ${rejection} as rejection, count(*)::text as rows,
    ${[
      'uncached_input_tokens',
      'cache_read_tokens',
      'cache_write_tokens',
      'completion_tokens',
      'reasoning_tokens',
      'cost_pico_usd',
    ]
      .map((column) => `coalesce(sum(${column}), 0)::text as ${column}`)
      .join(', ')}
  from "${accounting}".${table}
  where provider_key = any($1::text[])
    and utc_day >= date '1970-01-01' + $2::int and utc_day < date '1970-01-01' + $3::int
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9`

const sumsSql = `${sumsOf('usage_cost_events', 'null::text')}
  union all ${sumsOf('budget_rejected_charges', 'reason')}
  order by day, upstream_model, rate_id`

type SumsRow = Readonly<Record<string, string>> & { readonly day: number }

export function createStore({ sql }: Pick<Database, 'sql'>): LedgerStore {
  return {
    sums: (providers, start, end) =>
      sql.begin(MOMENT, async (reader) => {
        const rows = await reader.unsafe<SumsRow[]>(sumsSql, [[...providers], start, end])
        return rows.map(readSums)
      }) as Promise<LedgerSums[]>,
    providers: () =>
      sql.begin(MOMENT, async (reader) => {
        const rows = await reader.unsafe<{ provider_key: string }[]>(
          `select distinct provider_key from "${accounting}".usage_rollups order by 1`,
        )
        return rows.map(({ provider_key }) => provider_key)
      }) as Promise<string[]>,
  }
}

function readSums(row: SumsRow): LedgerSums {
  const sum = (column: string) => BigInt(row[column] ?? 0)
  const text = (column: string) => row[column] ?? null
  return {
    day: row.day,
    upstreamModel: row.upstream_model ?? '',
    pricingModel: row.pricing_model ?? '',
    modelKey: row.resolved_model_key ?? '',
    pricingProviderId: text('pricing_provider_id'),
    rateId: text('rate_id'),
    status: row.pricing_status as LedgerSums['status'],
    unpricedReason: text('unpriced_reason'),
    rejection: text('rejection'),
    rows: sum('rows'),
    input: sum('uncached_input_tokens'),
    cacheRead: sum('cache_read_tokens'),
    cacheWrite: sum('cache_write_tokens'),
    output: sum('completion_tokens'),
    reasoning: sum('reasoning_tokens'),
    cost: sum('cost_pico_usd'),
  }
}
