-- The models and routes of the config that was accepted last. The request path never reads them.
-- What leaves the config stays here as inactive, so that what points at its id keeps its meaning.
create table gateway_models (
  id uuid primary key default gen_random_uuid(),
  model_key text not null unique,
  description text,
  tags text[] not null,
  rank bigint not null,
  -- model_key of the alias's target.
  alias_of text,
  -- {"users": [...], "teams": [...]}; null: open to every principal with a grant.
  allowlist_json jsonb,
  active boolean not null default true,
  -- The last accepted config that had the model.
  config_version text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table model_routes (
  id uuid primary key default gen_random_uuid(),
  -- {model}/{provider}/{upstream_model}
  route_key text not null unique,
  model_id uuid not null references gateway_models (id),
  provider_key text not null,
  upstream_model text not null,
  priority bigint not null,
  weight double precision not null,
  enabled boolean not null,
  capabilities_json jsonb not null,
  compatibility_json jsonb not null,
  -- Without their values, which may be secret.
  extra_header_names text[] not null,
  active boolean not null default true,
  config_version text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on model_routes (model_id);
