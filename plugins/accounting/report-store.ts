import type { PricingStatus } from 'model-gateway/accounting'
import type { Database, Static } from 'model-gateway/plugin'
import { type Charges, createChargeReader } from './charge-reader.ts'
import type { Reason, RejectedCharge, Stored } from './charge-wire.ts'
import type { OwnerId } from './owner-names.ts'
import type { ReportRow } from './report.ts'
import { tokenColumns, tokenNumbers } from './tables.ts'
import { startOfDay, type UtcDay } from './window.ts'

/** Owner and days of a report: from `start` to before `end`. */
export interface Selection {
  readonly start: UtcDay
  readonly end: UtcDay
  readonly ownerKind?: OwnerId['kind'] | undefined
  readonly ownerId?: string | undefined
}

export interface RejectedFilter {
  readonly ownerKind?: OwnerId['kind'] | undefined
  readonly ownerId?: string | undefined
  readonly requestId?: string | undefined
  readonly reason?: Static<typeof Reason> | undefined
}

/** Unpriced calls of one upstream model with the same reason. */
export interface UnpricedRow {
  readonly reason: string
  readonly provider_key: string
  readonly upstream_model: string
  readonly pricing_provider_id: string | null
  readonly pricing_model: string
  readonly request_count: number
  readonly total_tokens: number
  /** Calls of owners that now have a hard limit, which did not count them. */
  readonly within_hard_limit: number
}

export interface ReportStore {
  /** Totals, and sums by day, owner and model, from one snapshot; highest spend first. */
  report(selection: Selection): Promise<readonly ReportRow[]>
  charges(selection: Selection): Promise<Charges>
  /** Unpriced calls by reason, most frequent first. */
  unpriced(selection: Selection): Promise<readonly UnpricedRow[]>
  /** Newest first. */
  rejected(
    filter: RejectedFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{
    readonly charges: readonly Stored<Static<typeof RejectedCharge>>[]
    readonly total: number
  }>
}

const count = (status: PricingStatus) =>
  `coalesce(sum(requests) filter (where pricing_status = '${status}'), 0)::float8 as ${status}_count`
const chosen = `bucket_start >= $1::timestamptz and bucket_start < $2::timestamptz
  and ($3::text is null or owner_kind = $3) and ($4::text is null or owner_id = $4)`

const reportSql = (schema: string) => `
  select case when grouping(day) = 0 then 'day' when grouping(owner_id) = 0 then 'owner'
      when grouping(model_key) = 0 then 'model' else 'total' end as list,
    day::text, owner_kind, owner_id, model_key, resolved_model_key,
    coalesce(sum(requests), 0)::float8 as request_count, ${count('priced')}, ${count('legacy_estimated')},
    ${count('unpriced')}, ${count('usage_missing')},
    ${tokenColumns.map((name) => `coalesce(sum(${name}), 0)::float8 as ${name}`).join(', ')},
    coalesce(sum(cost_pico_usd), 0)::text as cost_pico_usd,
    coalesce(sum(rejected_count), 0)::float8 as rejected_count,
    coalesce(sum(rejected_pico_usd), 0)::text as rejected_pico_usd
  from (
    select *, (bucket_start at time zone 'UTC')::date as day
    from "${schema}".usage_rollups where ${chosen}
  ) as r
  group by grouping sets ((), (day), (owner_kind, owner_id), (model_key, resolved_model_key))
  order by sum(r.cost_pico_usd) desc, sum(r.requests) desc, day, owner_id, model_key,
    resolved_model_key`

const rejectedWhere = `($1::text is null or owner_kind = $1)
  and ($2::text is null or coalesce(user_id, service_account_id) = $2)
  and ($3::text is null or request_id = $3) and ($4::text is null or reason = $4)`

/** Columns of every charge. */
export const chargeColumns = `event_id, request_id, owner_kind,
  coalesce(user_id, service_account_id) as owner_id, api_key_id, operation, model_key,
  resolved_model_key, provider_key, upstream_model, pricing_status,
  ${tokenNumbers(['prompt_tokens', 'completion_tokens', 'total_tokens'])}, cost_pico_usd,
  dispatched_at, occurred_at`

const rejectedSql = (schema: string) => `
  select ${chargeColumns}, reason
  from "${schema}".budget_rejected_charges where ${rejectedWhere}
  order by occurred_at desc, event_id desc limit $5 offset $6`

/** Maximum number of reported groups. */
const MOST_UNPRICED = 200

const unpricedSql = (schema: string) => `
  select unpriced_reason as reason, provider_key, upstream_model, pricing_provider_id, pricing_model,
    count(*)::float8 as request_count, coalesce(sum(total_tokens), 0)::float8 as total_tokens,
    (count(*) filter (where exists (
      select from "${schema}".budgets b where b.active and b.hard_limit
        and (b.user_id = u.user_id or b.service_account_id = u.service_account_id)
    )))::float8 as within_hard_limit
  from "${schema}".usage_cost_events u
  where pricing_status = 'unpriced' and dispatched_at >= $1::timestamptz
    and dispatched_at < $2::timestamptz and ($3::text is null or owner_kind = $3)
    and ($4::text is null or coalesce(user_id, service_account_id) = $4)
  group by 1, 2, 3, 4, 5 order by request_count desc, 1, 2, 3 limit ${MOST_UNPRICED}`

export function createReportStore({ sql, schema }: Database): ReportStore {
  return {
    report: (selection) => sql.unsafe<ReportRow[]>(reportSql(schema), values(selection)),
    charges: createChargeReader({ sql, schema }),
    unpriced: (selection) => sql.unsafe<UnpricedRow[]>(unpricedSql(schema), values(selection)),
    async rejected({ ownerKind, ownerId, requestId, reason }, { limit, offset }) {
      const filter = [ownerKind, ownerId, requestId, reason].map((value) => value ?? null)
      const [counted] = await sql.unsafe<{ total: number }[]>(
        `select count(*)::int as total from "${schema}".budget_rejected_charges
          where ${rejectedWhere}`,
        filter,
      )
      const charges = await sql.unsafe<Stored<Static<typeof RejectedCharge>>[]>(
        rejectedSql(schema),
        [...filter, limit, offset],
      )
      return { charges, total: counted?.total ?? 0 }
    },
  }
}

function values({ start, end, ownerKind, ownerId }: Selection) {
  return [
    startOfDay(start).toISOString(),
    startOfDay(end).toISOString(),
    ownerKind ?? null,
    ownerId ?? null,
  ]
}
