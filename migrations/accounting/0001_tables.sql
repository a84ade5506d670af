-- The spend ledger: at most one row for a request of an owner, written when the call is over.
create table usage_cost_events (
  event_id uuid not null,
  request_id text not null,
  -- user:<user_id> or service_account:<service_account_id>
  ownership_scope_key text not null,
  owner_kind text not null check (owner_kind in ('user', 'service_account')),
  user_id text,
  service_account_id text,
  -- For reports on service accounts; a team never spends.
  team_id text,
  api_key_id text not null,
  operation text not null,
  model_key text not null,
  resolved_model_key text not null,
  provider_key text not null,
  upstream_model text not null,
  pricing_provider_id text,
  pricing_model text not null,
  rate_id text,
  pricing_status text not null
    check (pricing_status in ('priced', 'legacy_estimated', 'unpriced', 'usage_missing')),
  unpriced_reason text,
  -- Why the counters cannot all be true.
  usage_doubt text,
  prompt_tokens bigint,
  completion_tokens bigint,
  total_tokens bigint,
  -- Input in buckets that never overlap; their sum is prompt_tokens.
  uncached_input_tokens bigint,
  cache_read_tokens bigint,
  cache_write_tokens bigint,
  -- Part of completion_tokens.
  reasoning_tokens bigint,
  -- USD * 10^12.
  cost_pico_usd bigint check (cost_pico_usd >= 0),
  dispatched_at timestamptz not null,
  occurred_at timestamptz not null,
  -- Day of dispatch.
  utc_day date not null,
  primary key (request_id, ownership_scope_key),
  check ((cost_pico_usd is not null) = (pricing_status in ('priced', 'legacy_estimated'))),
  check ((unpriced_reason is not null) = (pricing_status = 'unpriced'))
);

-- Served calls whose charge is not in the ledger, with the reason.
create table budget_rejected_charges (
  like usage_cost_events including constraints,
  reason text not null check (reason in ('duplicate_race')),
  primary key (event_id)
);
create index on budget_rejected_charges (request_id, ownership_scope_key);

-- Chargeable ledger rows summed by scope and day of dispatch, in pico-USD.
create table spend_counters (
  scope_key text not null,
  utc_day date not null,
  spent numeric not null default 0,
  rejected numeric not null default 0,
  primary key (scope_key, utc_day)
);

-- Request ids that callers chose, from admission until they expire.
create table request_claims (
  request_id text not null,
  ownership_scope_key text not null,
  claim_id uuid not null,
  expires_at timestamptz not null,
  primary key (request_id, ownership_scope_key)
);
create index on request_claims (expires_at);
