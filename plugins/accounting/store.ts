import type { Database } from 'model-gateway/plugin'
import type { LedgerRow } from './row.ts'

export interface Claim {
  readonly claim_id: string
  readonly request_id: string
  readonly ownership_scope_key: string
}

export interface Store {
  /**
   * Writes rows and adds them to the counters of their scopes, in one transaction and one round
   * trip. A row whose request already has one goes to the rejected charges instead. Returns the
   * event ids of those.
   */
  writeLedger(rows: readonly LedgerRow[]): Promise<ReadonlySet<string>>
  /** Returns the claim ids of the requests that are nobody else's. */
  claim(claims: readonly Claim[]): Promise<ReadonlySet<string>>
  release(requestId: string, ownershipScopeKey: string): Promise<void>
  sweepClaims(): Promise<void>
}

/** How long a claim outlives its admission: longer than any call that is not stuck. */
const CLAIM_MINUTES = 15

/** Columns of the ledger that come with a row; `utc_day` follows from them. */
const columns = `event_id uuid, request_id text, ownership_scope_key text, owner_kind text,
  user_id text, service_account_id text, team_id text, api_key_id text, operation text,
  model_key text, resolved_model_key text, provider_key text, upstream_model text,
  pricing_provider_id text, pricing_model text, rate_id text, pricing_status text,
  unpriced_reason text, usage_doubt text, prompt_tokens bigint, completion_tokens bigint,
  total_tokens bigint, uncached_input_tokens bigint, cache_read_tokens bigint,
  cache_write_tokens bigint, reasoning_tokens bigint, cost_pico_usd bigint,
  dispatched_at timestamptz, occurred_at timestamptz`
const names = columns.replaceAll(/ (uuid|text|bigint|timestamptz)/g, '')

export function createStore({ sql, schema }: Database): Store {
  // Keys are written in order everywhere, so that replicas cannot deadlock.
  const writeLedger = `
    with input as materialized (
      select *, (dispatched_at at time zone 'UTC')::date as utc_day
      from json_to_recordset($1::text::json) as r (${columns}, scope_keys text[])
    ), written as (
      insert into "${schema}".usage_cost_events (${names}, utc_day)
      select ${names}, utc_day from input order by request_id, ownership_scope_key
      on conflict do nothing
      returning event_id
    ), counted as (
      insert into "${schema}".spend_counters as counter (scope_key, utc_day, spent)
      select scope_key, utc_day, sum(cost_pico_usd)
      from written join input using (event_id) cross join unnest(scope_keys) as scope_key
      where cost_pico_usd > 0
      group by scope_key, utc_day order by scope_key, utc_day
      on conflict (scope_key, utc_day) do update set spent = counter.spent + excluded.spent
    )
    insert into "${schema}".budget_rejected_charges (${names}, utc_day, reason)
    select ${names}, utc_day, 'duplicate_race' from input
    where event_id not in (select event_id from written)
    returning event_id`

  const used = (table: string) => `exists (
    select from "${schema}".${table} u
    where u.request_id = i.request_id and u.ownership_scope_key = i.ownership_scope_key)`
  const claim = `
    insert into "${schema}".request_claims (claim_id, request_id, ownership_scope_key, expires_at)
    select claim_id, request_id, ownership_scope_key, now() + interval '${CLAIM_MINUTES} minutes'
    from json_to_recordset($1::text::json)
      as i (claim_id uuid, request_id text, ownership_scope_key text)
    where not ${used('usage_cost_events')} and not ${used('budget_rejected_charges')}
    order by request_id, ownership_scope_key
    on conflict do nothing
    returning claim_id`

  return {
    async writeLedger(rows) {
      const lost = await sql.unsafe<{ event_id: string }[]>(writeLedger, [JSON.stringify(rows)], {
        prepare: true,
      })
      return new Set(lost.map((row) => row.event_id))
    },
    async claim(claims) {
      const granted = await sql.unsafe<{ claim_id: string }[]>(claim, [JSON.stringify(claims)], {
        prepare: true,
      })
      return new Set(granted.map((row) => row.claim_id))
    },
    async release(requestId, ownershipScopeKey) {
      await sql`
        delete from ${sql(schema)}.request_claims
        where request_id = ${requestId} and ownership_scope_key = ${ownershipScopeKey}`
    },
    async sweepClaims() {
      await sql`delete from ${sql(schema)}.request_claims where expires_at < now()`
    },
  }
}
