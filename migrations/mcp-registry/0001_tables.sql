create table external_mcp_servers (
  id uuid primary key,
  server_key text not null unique check (server_key ~ '^[a-z0-9_-]{3,64}$'),
  display_name text not null,
  description text,
  server_url text not null,
  auth_mode text not null,
  -- References to secrets, never a secret.
  auth_config jsonb not null default '{}',
  timeout_ms integer not null check (timeout_ms between 1000 and 120000),
  status text not null default 'active' check (status in ('active', 'disabled')),
  -- Where the suggestion came from; it identifies nothing.
  recommended_catalog_key text,
  -- Stated by the config file only, and for the URL of the config file only.
  allow_private boolean not null default false,
  -- When the URL moved to another origin while the reference to a secret stayed.
  secret_moved jsonb,
  -- Counts the changes that a discovery under way must not outlive.
  version integer not null default 1,
  discovery_status text not null default 'never'
    check (discovery_status in ('never', 'success', 'failed', 'auth_required', 'disabled')),
  tool_count integer not null default 0,
  last_error_summary text check (length(last_error_summary) <= 512),
  last_discovery_at timestamptz,
  last_successful_discovery_at timestamptz,
  protocol_version text,
  config_hash text,
  -- Fields that an administrator has set; the config file has no say in them.
  admin_fields text[] not null default '{}',
  disabled_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table external_mcp_tools (
  id uuid primary key,
  server_id uuid not null references external_mcp_servers (id) on delete cascade,
  upstream_name text not null,
  display_name text,
  description text,
  annotations json,
  -- In its canonical form: `jsonb` would order it differently.
  input_schema json not null,
  schema_hash text not null,
  schema_version integer not null default 1,
  definition_hash text not null,
  is_active boolean not null default true,
  first_discovered_at timestamptz not null,
  last_discovered_at timestamptz not null,
  unique (server_id, upstream_name)
);

create table external_mcp_discovery_runs (
  id uuid primary key,
  server_id uuid not null references external_mcp_servers (id) on delete cascade,
  trigger text not null check (trigger in ('admin', 'schedule')),
  actor_user_id uuid,
  request_id text,
  status text not null check (status in ('success', 'failed', 'auth_required', 'disabled')),
  error_summary text check (length(error_summary) <= 512),
  upstream_status integer,
  protocol_version text,
  -- Null for a run that left the tools as they were.
  tool_count integer,
  added_count integer,
  changed_count integer,
  removed_count integer,
  started_at timestamptz not null,
  finished_at timestamptz not null
);
create index on external_mcp_discovery_runs (server_id, started_at desc);

-- Who is refreshing a server now, on whichever replica. A lease that has run out is nobody's.
create table discovery_leases (
  server_id uuid primary key references external_mcp_servers (id) on delete cascade,
  lease_id uuid not null,
  until timestamptz not null
);

-- The last slot of the schedule that a replica has taken.
create table discovery_schedule (
  id integer primary key check (id = 1),
  slot timestamptz not null,
  -- A run that has taken longer than this is given up.
  running_until timestamptz
);
insert into discovery_schedule (id, slot) values (1, 'epoch');

-- Counts every change that matters to calls.
create table revision (
  id integer primary key check (id = 1),
  value bigint not null
);
insert into revision values (1, 1);

create function note_change() returns trigger language plpgsql set search_path from current as $$
begin
  update revision set value = value + 1;
  perform pg_notify('mcp_registry_changed', '');
  return null;
end
$$;

-- Before the statement, so that every writer takes the counter's row lock first: no deadlocks.
create trigger note_change before insert or delete or truncate or update of server_key,
  display_name, server_url, auth_mode, auth_config, timeout_ms, status, recommended_catalog_key,
  allow_private, admin_fields on external_mcp_servers
  for each statement execute function note_change();
create trigger note_change before insert or delete or truncate or update on external_mcp_tools
  for each statement execute function note_change();
