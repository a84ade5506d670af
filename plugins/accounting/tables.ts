import type { Budget, BudgetEntry, BudgetSource } from './budget.ts'
import { type BudgetScope, scopeKey } from './scopes.ts'
import type { Cadence } from './window.ts'

/** Columns of the ledger and of the rejected charges, with their types. */
export const columns = `event_id uuid, request_id text, ownership_scope_key text, owner_kind text,
  user_id text, service_account_id text, team_id text, api_key_id text, operation text,
  model_key text, resolved_model_key text, provider_key text, upstream_model text,
  pricing_provider_id text, pricing_model text, rate_id text, pricing_status text,
  unpriced_reason text, usage_doubt text, prompt_tokens bigint, completion_tokens bigint,
  total_tokens bigint, uncached_input_tokens bigint, cache_read_tokens bigint,
  cache_write_tokens bigint, reasoning_tokens bigint, cost_pico_usd bigint,
  dispatched_at timestamptz, occurred_at timestamptz, utc_day date`
export const names = columns.replaceAll(/ (uuid|text|bigint|timestamptz|date)/g, '')

const tokens = [
  'prompt',
  'completion',
  'total',
  'uncached_input',
  'cache_read',
  'cache_write',
  'reasoning',
].map((bucket) => `${bucket}_tokens`)
const statuses = ['priced', 'legacy_estimated', 'unpriced', 'usage_missing']

/** What a roll-up sums up, as column and expression. */
export const sums: readonly (readonly [column: string, sum: string])[] = [
  ['requests', 'count(*) filter (where rejection is null)'],
  ...statuses.map((status): [string, string] => [
    `${status}_count`,
    `count(*) filter (where rejection is null and pricing_status = '${status}')`,
  ]),
  ...tokens.map((column): [string, string] => [
    column,
    `coalesce(sum(${column}) filter (where rejection is null), 0)`,
  ]),
  ['cost_pico_usd', 'coalesce(sum(cost_pico_usd) filter (where rejection is null), 0)'],
  ['rejected_count', 'count(rejection)'],
  ['rejected_pico_usd', 'coalesce(sum(cost_pico_usd) filter (where rejection is not null), 0)'],
]

/** A budget as it is read: one JSON array. */
export const budgetArray = `json_build_array(budget_id, scope_key, scope_kind, user_id,
  service_account_id, model_id, upstream_model, budget_source, active, cadence,
  amount_pico_usd::text, hard_limit, timezone)`

export type BudgetArray = readonly [
  budgetId: string,
  scopeKey: string,
  scopeKind: BudgetScope['kind'],
  userId: string,
  serviceAccountId: string,
  modelId: string | null,
  upstreamModel: string | null,
  source: BudgetSource,
  active: boolean,
  cadence: Cadence | null,
  amountPicoUsd: string | null,
  hardLimit: boolean,
  timezone: string,
]

export function readBudget(row: BudgetArray): Budget {
  const [budgetId, key, kind, userId, serviceAccountId, modelId, upstreamModel, ...rest] = row
  const [source, active, cadence, amount, hardLimit, timezone] = rest
  const scope: BudgetScope =
    kind === 'service_account'
      ? { kind, serviceAccountId }
      : kind === 'user'
        ? { kind, userId }
        : modelId === null
          ? { kind, userId, upstreamModel: upstreamModel ?? '' }
          : { kind, userId, modelId }
  const base = { budgetId, scopeKey: key, scope, source }
  if (cadence === null || amount === null) return { ...base, active: false, settings: undefined }
  return {
    ...base,
    active,
    settings: { cadence, amountPicoUsd: BigInt(amount), hardLimit, timezone },
  }
}

/** A budget as it is written: one JSON object. */
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
    timezone: settings?.timezone ?? 'UTC',
  }
}
