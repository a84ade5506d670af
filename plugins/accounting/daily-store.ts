import type { Database, Static } from 'model-gateway/plugin'
import type { LedgerEntry, Stored, StoredItem } from './charge-wire.ts'
import type { OwnerId } from './owner-names.ts'
import { chargeColumns } from './report-store.ts'
import { tokenNumbers } from './tables.ts'
import { startOfDay, type Window } from './window.ts'

/** Number of named series; one more sums the others. */
export const MOST_SERIES = 7

/** Sums of one day and series, as decimal strings. */
export interface DailyRow {
  /** Rank by spend, from 1; null: all others. */
  readonly place: string | null
  readonly day: string
  readonly model_key: string | null
  readonly owner_kind: OwnerId['kind'] | null
  readonly owner_id: string | null
  readonly cost_pico_usd: string
  readonly requests: string
}

/** A ledger row or a rejected charge. */
type Entry = Stored<Static<typeof LedgerEntry>> & {
  readonly line_items: readonly StoredItem[] | null
}

export interface DailyStore {
  /** Days of the largest series, ordered by spend, without days that have no requests. */
  daily(
    by: 'model' | 'owner',
    selection: Window & { readonly ownerKind?: OwnerId['kind'] | undefined },
  ): Promise<readonly DailyRow[]>
  /** Ledger rows and rejected charges of a request id, which several owners may have used. */
  entries(requestId: string): Promise<readonly Entry[]>
}

const keys = {
  model: 'model_key, null::text as owner_kind, null::text as owner_id',
  owner: 'null::text as model_key, owner_kind, owner_id',
}

const dailySql = (schema: string, by: 'model' | 'owner') => `
  with days as (
    select (bucket_start at time zone 'UTC')::date as day, ${keys[by]},
      sum(cost_pico_usd) as cost, sum(requests) as requests
    from "${schema}".usage_rollups
    where bucket_start >= $1::timestamptz and bucket_start < $2::timestamptz
      and ($3::text is null or owner_kind = $3)
    group by 1, 2, 3, 4
  ), placed as (
    select row_number() over (order by sum(cost) desc, sum(requests) desc, model_key, owner_id)
      as place, model_key, owner_kind, owner_id
    from days group by model_key, owner_kind, owner_id
  ), named as (
    select case when place <= ${MOST_SERIES} then place end as place, model_key, owner_kind, owner_id
    from placed
  )
  select place::text, day::text, min(named.model_key) filter (where place is not null) as model_key,
    min(named.owner_kind) filter (where place is not null) as owner_kind,
    min(named.owner_id) filter (where place is not null) as owner_id,
    sum(cost)::text as cost_pico_usd, sum(requests)::text as requests
  from days join named on named.model_key is not distinct from days.model_key
    and named.owner_kind is not distinct from days.owner_kind
    and named.owner_id is not distinct from days.owner_id
  group by named.place, day order by named.place nulls last, day`

const entryColumns = `${chargeColumns}, unpriced_reason, usage_doubt, pricing_provider_id,
  pricing_model, rate_id, price_source, service_tier, line_items, ${tokenNumbers([
    'uncached_input_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
    'reasoning_tokens',
  ])}`

const entriesSql = (schema: string) => `
  select ${entryColumns}, null as rejection
  from "${schema}".usage_cost_events where request_id = $1
  union all
  select ${entryColumns}, reason as rejection
  from "${schema}".budget_rejected_charges where request_id = $1
  order by occurred_at desc, event_id desc limit 100`

export function createDailyStore({ sql, schema }: Database): DailyStore {
  return {
    daily: (by, { start, end, ownerKind }) =>
      sql.unsafe<DailyRow[]>(dailySql(schema, by), [
        startOfDay(start).toISOString(),
        startOfDay(end).toISOString(),
        ownerKind ?? null,
      ]),
    entries: (requestId) => sql.unsafe<Entry[]>(entriesSql(schema), [requestId]),
  }
}
