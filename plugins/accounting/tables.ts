import type { Alert } from './alert-store.ts'
import type { Budget, BudgetEntry, BudgetSettings, BudgetSource } from './budget.ts'
import { RECENT_DAYS } from './pace.ts'
import { type BudgetScope, scopeKey } from './scopes.ts'
import type { Cadence, UtcDay } from './window.ts'

/** Columns of the ledger and of the rejected charges, with their types. */
export const columns = `event_id uuid, request_id text, ownership_scope_key text, owner_kind text,
  user_id text, service_account_id text, team_id text, api_key_id text, operation text,
  model_key text, resolved_model_key text, provider_key text, upstream_model text,
  pricing_provider_id text, pricing_model text, rate_id text, pricing_status text,
  unpriced_reason text, usage_doubt text, prompt_tokens bigint, completion_tokens bigint,
  total_tokens bigint, uncached_input_tokens bigint, cache_read_tokens bigint,
  cache_write_tokens bigint, reasoning_tokens bigint, cost_pico_usd bigint,
  line_items jsonb, service_tier text, price_source text, dispatched_at timestamptz, occurred_at timestamptz, utc_day date`
export const names = columns.replaceAll(/ (uuid|text|bigint|jsonb|timestamptz|date)/g, '')

/** Token buckets of the ledger and of the roll-ups. */
export const tokenColumns = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'uncached_input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
] as const

/** Token columns as JSON numbers. */
export const tokenNumbers = (columns: readonly (typeof tokenColumns)[number][]) =>
  columns.map((name) => `${name}::float8 as ${name}`).join(', ')

/** Group columns of a roll-up, with their expressions. */
export const rollupKeys: readonly (readonly [column: string, expression: string])[] = [
  ['bucket_start', "date_bin('12 hours', dispatched_at, '2000-01-01 00:00:00+00')"],
  ['owner_kind', 'owner_kind'],
  ['owner_id', 'coalesce(user_id, service_account_id)'],
  ['model_key', 'model_key'],
  ['resolved_model_key', 'resolved_model_key'],
  ['provider_key', 'provider_key'],
  ['upstream_model', 'upstream_model'],
  ['pricing_status', 'pricing_status'],
]

/** Sum columns of a roll-up, with their expressions. */
export const sums: readonly (readonly [column: string, sum: string])[] = [
  ['requests', 'count(*) filter (where rejection is null)'],
  ...tokenColumns.map((column): [string, string] => [
    column,
    `coalesce(sum(${column}) filter (where rejection is null), 0)`,
  ]),
  ['cost_pico_usd', 'coalesce(sum(cost_pico_usd) filter (where rejection is null), 0)'],
  ['rejected_count', 'count(rejection)'],
  ['rejected_pico_usd', 'coalesce(sum(cost_pico_usd) filter (where rejection is not null), 0)'],
]

/** A budget as read: one JSON array. */
export const budgetArray = `json_build_array(budget_id, scope_key, scope_kind, user_id,
  service_account_id, model_id, upstream_model, budget_source, active, cadence,
  amount_pico_usd::text, hard_limit, unpriced, timezone)`

/**
 * Lateral joins for the current window of each budget `b` and its spend: `window_start` and
 * `window_end` (null without a cadence), `spent`, `rejected`, and their parts in the last
 * `RECENT_DAYS`. `today` is an SQL expression of type timestamp.
 */
export const budgetWindow = (schema: string, today: string) => `
  cross join lateral (
    select case cadence when 'daily' then ${today} when 'weekly' then date_trunc('week', ${today})
      when 'monthly' then date_trunc('month', ${today}) end::date as window_start
  ) as starts cross join lateral (
    select (window_start + case cadence when 'daily' then interval '1 day'
      when 'weekly' then interval '1 week' else interval '1 month' end)::date as window_end
  ) as ends cross join lateral (
    select coalesce(sum(spent), 0) as spent, coalesce(sum(rejected), 0) as rejected,
      coalesce(sum(spent) filter (where ${recent(today)}), 0) as recent_spent,
      coalesce(sum(rejected) filter (where ${recent(today)}), 0) as recent_rejected
    from "${schema}".spend_counters c
    where c.scope_key = b.scope_key and utc_day >= window_start and utc_day < window_end
  ) as sums`

const recent = (today: string) => `utc_day > (${today})::date - ${RECENT_DAYS}`

export type BudgetArray = readonly [
  budgetId: string,
  scopeKey: string,
  scopeKind: BudgetScope['kind'],
  userId: string | null,
  serviceAccountId: string,
  modelId: string | null,
  upstreamModel: string | null,
  source: BudgetSource,
  active: boolean,
  cadence: Cadence | null,
  amountPicoUsd: string | null,
  hardLimit: boolean,
  unpriced: BudgetSettings['unpriced'],
  timezone: string,
]

export function readBudget(row: BudgetArray): Budget {
  const [budgetId, key, kind, userId, serviceAccountId, modelId, upstreamModel, ...rest] = row
  const [source, active, cadence, amount, hardLimit, unpriced, timezone] = rest
  const scope = readScope(kind, userId ?? serviceAccountId, modelId, upstreamModel)
  const base = { budgetId, scopeKey: key, scope, source }
  if (cadence === null || amount === null) return { ...base, active: false, settings: undefined }
  return {
    ...base,
    active,
    settings: { cadence, amountPicoUsd: BigInt(amount), hardLimit, unpriced, timezone },
  }
}

/** A budget as written: one JSON object. */
export function budgetRow({ scope, source, active, settings }: BudgetEntry) {
  return {
    budget_id: Bun.randomUUIDv7(),
    scope_key: scopeKey(scope),
    scope_kind: scope.kind,
    user_id: 'userId' in scope ? scope.userId : undefined,
    service_account_id: 'serviceAccountId' in scope ? scope.serviceAccountId : undefined,
    model_id: 'modelId' in scope ? scope.modelId : undefined,
    upstream_model: 'upstreamModel' in scope ? scope.upstreamModel.trim() : undefined,
    budget_source: source,
    active,
    cadence: settings?.cadence,
    amount_pico_usd: settings?.amountPicoUsd.toString(),
    hard_limit: settings?.hardLimit ?? true,
    unpriced: settings?.unpriced ?? 'allow',
    timezone: settings?.timezone ?? 'UTC',
  }
}

/** An alert `a` as read: one JSON array. */
export const alertArray = `json_build_array(a.alert_id, a.budget_id, a.scope_key, a.scope_kind,
  a.owner_id, a.model_id, a.upstream_model, a.cadence, a.window_start - date '1970-01-01',
  a.window_end - date '1970-01-01', a.threshold_percent, a.amount_pico_usd::text,
  a.spent_pico_usd::text, a.remaining_pico_usd::text, a.hard_limit, a.created_at)`

export type AlertArray = readonly [
  alertId: string,
  budgetId: string,
  scopeKey: string,
  scopeKind: BudgetScope['kind'],
  ownerId: string,
  modelId: string | null,
  upstreamModel: string | null,
  cadence: Cadence,
  windowStart: UtcDay,
  windowEnd: UtcDay,
  thresholdPercent: number,
  amountPicoUsd: string,
  spent: string,
  remaining: string,
  hardLimit: boolean,
  createdAt: string,
]

export function readAlert(row: AlertArray): Alert {
  const [alertId, budgetId, key, kind, ownerId, modelId, upstreamModel, cadence, ...rest] = row
  const [start, end, thresholdPercent, amount, spent, left, hardLimit, createdAt] = rest
  return {
    alertId,
    budgetId,
    scopeKey: key,
    scope: readScope(kind, ownerId, modelId, upstreamModel),
    settings: { cadence, amountPicoUsd: BigInt(amount), hardLimit },
    window: { start, end },
    thresholdPercent,
    spent: BigInt(spent),
    remaining: BigInt(left),
    createdAt: new Date(createdAt),
  }
}

function readScope(
  kind: BudgetScope['kind'],
  ownerId: string,
  modelId: string | null,
  upstreamModel: string | null,
): BudgetScope {
  if (kind === 'service_account') return { kind, serviceAccountId: ownerId }
  if (kind === 'user') return { kind, userId: ownerId }
  if (modelId !== null) return { kind, userId: ownerId, modelId }
  return { kind, userId: ownerId, upstreamModel: upstreamModel ?? '' }
}
