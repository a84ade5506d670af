-- Every rate that a call can have been priced with. The ledger names rates by id, so rows stay.
create table model_pricing (
  rate_id text primary key,
  pricing_provider_id text not null,
  model text not null,
  source text not null check (source in ('snapshot', 'override')),
  -- Pico-USD (10^-12 USD) per token; null: not known.
  input_pico_usd bigint check (input_pico_usd >= 0),
  output_pico_usd bigint check (output_pico_usd >= 0),
  cache_read_pico_usd bigint check (cache_read_pico_usd >= 0),
  cache_write_pico_usd bigint check (cache_write_pico_usd >= 0),
  -- Rates that depend on the length of the prompt and are therefore null.
  context_tiers text[] not null,
  effective_from timestamptz not null,
  effective_until timestamptz not null check (effective_until > effective_from),
  recorded_at timestamptz not null default now(),
  -- Set when a later catalog no longer has this rate.
  superseded_at timestamptz
);

create index on model_pricing (pricing_provider_id, model);

-- One row: which catalog the table holds.
create table catalog_state (
  id integer primary key check (id = 1),
  content_hash text not null,
  updated_at timestamptz not null default now()
);
