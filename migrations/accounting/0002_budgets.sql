-- Which counters a transaction changed, so that other replicas read those again: hashes of scope
-- keys. Kept for a while; the counters themselves stay free of an index that each change moves.
create table counter_changes (
  changed_xid xid8 not null default pg_current_xact_id(),
  changed_at timestamptz not null default now(),
  utc_day date not null,
  scopes bigint[] not null
);
create index on counter_changes (changed_xid);

alter table budget_rejected_charges
  drop constraint budget_rejected_charges_reason_check,
  add constraint budget_rejected_charges_reason_check
    check (reason in ('duplicate_race', 'budget_exceeded'));

-- At most one row for a scope, active or not. An inactive manual one says that an administrator
-- wants no budget there, whatever the config's defaults are.
create table budgets (
  budget_id uuid primary key,
  -- budget:v1:…
  scope_key text not null unique,
  scope_kind text not null check (scope_kind in ('user', 'service_account', 'user_model')),
  user_id text,
  service_account_id text,
  model_id text,
  upstream_model text,
  budget_source text not null check (budget_source in
    ('manual', 'config_user_override', 'config_user_default', 'config_user_model_default')),
  active boolean not null,
  cadence text check (cadence in ('daily', 'weekly', 'monthly')),
  -- USD * 10^12.
  amount_pico_usd numeric(36, 0) check (amount_pico_usd >= 0),
  hard_limit boolean not null default true,
  -- Kept, not used: windows are in UTC.
  timezone text not null default 'UTC',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  changed_xid xid8 not null default pg_current_xact_id(),
  check (not active or (cadence is not null and amount_pico_usd is not null)),
  check ((scope_kind = 'service_account') = (user_id is null)),
  check ((scope_kind = 'service_account') = (service_account_id is not null)),
  check ((scope_kind = 'user_model') = (coalesce(model_id, upstream_model) is not null)),
  check (model_id is null or upstream_model is null)
);
create index on budgets (changed_xid);
create index on budgets (user_id);

create function note_change() returns trigger language plpgsql as $$
begin
  new.changed_xid = pg_current_xact_id();
  new.updated_at = now();
  return new;
end
$$;
create trigger note_change before update on budgets for each row execute function note_change();

-- Usage by owner and model in buckets of 12 hours of dispatch; outlives the ledger's details.
create table usage_rollups (
  bucket_start timestamptz not null,
  owner_kind text not null,
  owner_id text not null,
  model_key text not null,
  resolved_model_key text not null,
  -- Ledger rows, and how they were priced.
  requests bigint not null default 0,
  priced_count bigint not null default 0,
  legacy_estimated_count bigint not null default 0,
  unpriced_count bigint not null default 0,
  usage_missing_count bigint not null default 0,
  prompt_tokens numeric not null default 0,
  completion_tokens numeric not null default 0,
  total_tokens numeric not null default 0,
  uncached_input_tokens numeric not null default 0,
  cache_read_tokens numeric not null default 0,
  cache_write_tokens numeric not null default 0,
  reasoning_tokens numeric not null default 0,
  cost_pico_usd numeric not null default 0,
  -- Charges that a hard limit kept out of the ledger; in none of the above.
  rejected_count bigint not null default 0,
  rejected_pico_usd numeric not null default 0,
  primary key (bucket_start, owner_kind, owner_id, model_key, resolved_model_key)
);
create index on usage_rollups (owner_kind, owner_id, bucket_start);
