import type { Static } from 'model-gateway/plugin'
import { instantSql } from '../../_shared/instant.ts'
import type { Frame } from '../_shared/frame.ts'
import {
  accounting,
  boundsOf,
  inFrame,
  nameSql,
  type Reader,
  requestLog,
  usdSql,
} from '../_shared/store.ts'
import type { NearBudget, RecentAttempts } from './wire.ts'

/** Logged requests in one latency bin; -1: no successful requests. */
export interface TrafficRow {
  readonly facet: 'all' | 'model' | 'provider' | 'owner'
  readonly key: string
  /** Only for the facet `all`. */
  readonly bucket_start: string | null
  readonly latency_bin: number
  readonly requests: number
  readonly errors: number
}

/** Sums of ledger rows by half day, resolved model and provider, or by owner. */
export interface SpendRow {
  readonly bucket_start: string | null
  readonly model_key: string
  readonly provider_key: string
  readonly owner_kind: 'user' | 'service_account' | null
  readonly owner_id: string
  readonly cost_pico_usd: string
  readonly rejected_pico_usd: string
  readonly requests: number
  readonly priced: number
  readonly legacy_estimated: number
  readonly unpriced: number
  readonly usage_missing: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}

const trafficSql = `
  select facet, key, ${instantSql('bucket_start')} as bucket_start, latency_bin,
    sum(request_count)::float8 as requests, sum(error_count)::float8 as errors
  from (
    select facet, key, case facet when 'all' then bucket_start end as bucket_start, latency_bin,
      request_count, error_count
    from "${requestLog}".traffic_rollups
    where ${inFrame} and facet in ('all', 'model', 'provider')
  ) as r
  group by 1, 2, r.bucket_start, 4`

const ownerTrafficSql = `
  select facet, key, null as bucket_start, latency_bin, sum(request_count)::float8 as requests,
    sum(error_count)::float8 as errors
  from "${requestLog}".traffic_rollups
  where ${inFrame} and facet = 'owner' and key = any($3::text[])
  group by 1, 2, 4`

const requestsOf = (status: string) =>
  `coalesce(sum(requests) filter (where pricing_status = '${status}'), 0)::float8 as ${status}`
const tokensOf = (name: string) => `sum(${name}_tokens::float8) as ${name}_tokens`

const spendSql = `
  select ${instantSql('bucket_start')} as bucket_start, resolved_model_key as model_key,
    provider_key, owner_kind, owner_id, sum(cost_pico_usd)::text as cost_pico_usd,
    sum(rejected_pico_usd)::text as rejected_pico_usd, sum(requests)::float8 as requests,
    ${['priced', 'legacy_estimated', 'unpriced', 'usage_missing'].map(requestsOf).join(', ')},
    ${['prompt', 'completion', 'total'].map(tokensOf).join(', ')}
  from "${accounting}".usage_rollups where ${inFrame}
  group by grouping sets ((bucket_start, resolved_model_key, provider_key), (owner_kind, owner_id))`

/** Sums of logged requests. */
export function readTraffic(reader: Reader, frame: Frame): Promise<TrafficRow[]> {
  return reader.unsafe<TrafficRow[]>(trafficSql, boundsOf(frame))
}

/**
 * Sums of logged requests of some owners, given as `user:<user_id>` or
 * `service_account:<service_account_id>`.
 */
export function readOwnerTraffic(
  reader: Reader,
  frame: Frame,
  owners: readonly string[],
): Promise<TrafficRow[]> {
  return reader.unsafe<TrafficRow[]>(ownerTrafficSql, [...boundsOf(frame), [...owners]])
}

export function readSpend(reader: Reader, frame: Frame): Promise<SpendRow[]> {
  return reader.unsafe<SpendRow[]>(spendSql, boundsOf(frame))
}

const ownerName = (kind: string, id: string) => `case ${kind} when 'user'
  then ${nameSql('users', id)} else ${nameSql('service_accounts', id)} end`

/** Names by `kind:id`, without unknown owners. */
export async function readOwnerNames(
  reader: Reader,
  owners: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await reader.unsafe<{ key: string; name: string | null }[]>(
    `select key, ${ownerName("split_part(key, ':', 1)", "split_part(key, ':', 2)")} as name
      from unnest($1::text[]) as key`,
    [[...owners]],
  )
  return new Map(rows.flatMap(({ key, name }) => (name === null ? [] : [[key, name]])))
}

const nearBudgetsSql = `
  with windowed as (
    select b.*, coalesce(c.spent, 0) as spent, coalesce(c.rejected, 0) as rejected,
      coalesce(c.spent, 0) + case when hard_limit then coalesce(c.rejected, 0) else 0 end as used
    from "${accounting}".budgets b cross join lateral (
      select sum(spent) as spent, sum(rejected) as rejected from "${accounting}".spend_counters c
      where c.scope_key = b.scope_key and c.utc_day <= ($1::timestamptz at time zone 'UTC')::date
        and c.utc_day >= date_trunc(case b.cadence when 'daily' then 'day' when 'weekly' then 'week'
          else 'month' end, $1::timestamptz at time zone 'UTC')::date
    ) as c
    where b.active
  )
  select budget_id, scope_key, owner_kind, owner_id, ${ownerName('owner_kind', 'owner_id')} as owner_name,
    cadence, ${usdSql('amount_pico_usd')} as amount_usd, ${usdSql('spent')} as current_window_spend_usd,
    ${usdSql('rejected')} as current_window_rejected_usd, used_share
  from (
    select *, case when user_id is null then 'service_account' else 'user' end as owner_kind,
      coalesce(user_id, service_account_id) as owner_id,
      case when amount_pico_usd = 0 then 1 else used / amount_pico_usd end::float8 as used_share
    from windowed where (amount_pico_usd - used) * 5 <= amount_pico_usd
  ) as near
  order by used_share desc, scope_key limit 10`

/** Up to ten active budgets with at most 20 % left, the most used first. */
export function readNearBudgets(reader: Reader, now: Date): Promise<Static<typeof NearBudget>[]> {
  return reader.unsafe<Static<typeof NearBudget>[]>(nearBudgetsSql, [now.toISOString()])
}

const percentileSql = (share: number, column: string, where: string) =>
  `round((percentile_cont(${share}) within group (order by ${column}) filter (where ${where}))
    ::numeric)::int`
const failed = "a.status not in ('success', 'client_abort')"

const recentSql = `
  select a.provider_key, r.resolved_model_key as model_key, count(*)::int as attempt_count,
    (count(*) filter (where a.status = 'success'))::int as success_count,
    (count(*) filter (where ${failed}))::int as error_count,
    (count(*) filter (where a.status = 'client_abort'))::int as client_abort_count,
    ${percentileSql(0.5, 'a.latency_ms', "a.status = 'success'")} as latency_p50_ms,
    ${percentileSql(0.95, 'a.latency_ms', "a.status = 'success'")} as latency_p95_ms,
    ${percentileSql(0.5, 'a.first_byte_ms', 'a.first_byte_ms is not null')} as first_byte_p50_ms,
    ${instantSql('max(a.occurred_at)')} as last_attempt_at,
    ${instantSql(`max(a.occurred_at) filter (where ${failed})`)} as last_error_at,
    (array_agg(a.error_code order by a.occurred_at desc) filter (where ${failed}))[1]
      as last_error_code
  from "${requestLog}".request_log_attempts a
    join "${requestLog}".request_logs r on r.occurred_at = a.occurred_at and r.id = a.request_log_id
  where a.occurred_at > $1::timestamptz and r.occurred_at > $1::timestamptz
    and r.metadata_json -> 'priced' is distinct from 'false'::jsonb
  group by 1, 2
  order by a.provider_key collate "C", r.resolved_model_key collate "C"`

/** Attempts of requests that ended after `since`, by provider and resolved model. */
export function readRecentAttempts(
  reader: Reader,
  since: Date,
): Promise<Static<typeof RecentAttempts>[]> {
  return reader.unsafe<Static<typeof RecentAttempts>[]>(recentSql, [since.toISOString()])
}
