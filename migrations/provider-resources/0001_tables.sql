-- Which owner may use a file at which provider.
create table files (
  ownership_scope_key text not null,
  file_id text not null,
  provider_key text not null,
  purpose text not null,
  -- The file as the provider described it when it was uploaded, or first seen.
  object jsonb not null,
  -- Of files with the purpose batch: the models that the lines name. See lines.ts.
  lines jsonb,
  created_at timestamptz not null default now(),
  primary key (ownership_scope_key, file_id)
);
create index on files (ownership_scope_key, created_at desc, file_id);

create table batches (
  ownership_scope_key text not null,
  -- That of the provider; pending:<uuid> until the provider has answered.
  batch_id text not null,
  provider_key text not null,
  input_file_id text not null,
  endpoint text not null,
  -- What the ledger rows need: the key, its owner, and the models of the lines.
  principal jsonb not null,
  lines jsonb not null,
  config_version text not null,
  -- The batch as the provider last described it; null until it has answered.
  object jsonb,
  created_at timestamptz not null default now(),
  -- Set when the last ledger row is written.
  settled_at timestamptz,
  -- Why it cannot be settled yet, or could not be settled from its output.
  problem text,
  next_look_at timestamptz not null,
  looks integer not null default 0,
  -- One replica at a time looks at a batch.
  claimed_until timestamptz not null default '-infinity',
  primary key (ownership_scope_key, batch_id)
);
create index on batches (next_look_at) where settled_at is null;
create index on batches (ownership_scope_key, created_at desc, batch_id);

-- Which owner may read a stored response, and what is left to charge for one in the background.
create table responses (
  ownership_scope_key text not null,
  response_id text not null,
  provider_key text not null,
  model_key text not null,
  resolved_model_key text not null,
  upstream_model text not null,
  -- Present: its usage is not settled yet. The key, its owner, the config version, what is charged already.
  pending jsonb,
  problem text,
  created_at timestamptz not null,
  next_look_at timestamptz not null default now(),
  looks integer not null default 0,
  claimed_until timestamptz not null default '-infinity',
  primary key (ownership_scope_key, response_id)
);
create index on responses (next_look_at) where pending is not null;
create index on responses (created_at);
