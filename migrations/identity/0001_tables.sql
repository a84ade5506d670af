create table teams (
  id uuid primary key,
  key text not null unique,
  name text not null,
  model_access_mode text not null default 'all' check (model_access_mode in ('all', 'restricted')),
  allowed_models text[] not null default '{}',
  config_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table users (
  id uuid primary key,
  name text not null,
  email text not null unique check (email = lower(email)),
  role text not null default 'user' check (role in ('platform_admin', 'user')),
  status text not null default 'active' check (status in ('active', 'invited', 'disabled')),
  request_logging_enabled boolean not null default true,
  model_access_mode text not null default 'all' check (model_access_mode in ('all', 'restricted')),
  allowed_models text[] not null default '{}',
  config_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- At most one team a user.
create table team_memberships (
  user_id uuid primary key references users (id) on delete cascade,
  team_id uuid not null references teams (id),
  role text not null default 'member' check (role in ('owner', 'admin', 'member'))
);
create index on team_memberships (team_id);

create table service_accounts (
  id uuid primary key,
  key text not null unique,
  name text not null,
  team_id uuid not null references teams (id),
  status text not null default 'active' check (status in ('active', 'disabled')),
  model_access_mode text not null default 'all' check (model_access_mode in ('all', 'restricted')),
  allowed_models text[] not null default '{}',
  config_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on service_accounts (team_id);

create table api_keys (
  id uuid primary key,
  public_id text not null unique,
  -- SHA-256 of the secret, in hexadecimal digits.
  secret_hash text not null,
  name text not null,
  user_id uuid references users (id),
  service_account_id uuid references service_accounts (id),
  model_grant_mode text not null check (model_grant_mode in ('explicit', 'all')),
  granted_models text[] not null default '{}',
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- When an administrator replaced the secret; the config file has no say in it from then on.
  rotated_at timestamptz,
  -- Which entry of the config file the key comes from.
  config_entry text unique,
  config_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((user_id is null) <> (service_account_id is null)),
  check (service_account_id is null or model_grant_mode = 'explicit')
);
create index on api_keys (user_id);
create index on api_keys (service_account_id);

-- Counts every change that matters to authentication.
create table revision (
  id integer primary key check (id = 1),
  value bigint not null
);
insert into revision values (1, 1);

create function note_change() returns trigger language plpgsql set search_path from current as $$
begin
  update revision set value = value + 1;
  perform pg_notify('identity_changed', '');
  return null;
end
$$;

-- Before the statement, so that every writer takes the counter's row lock first: no deadlocks.
create trigger note_change before insert or update or delete or truncate on teams
  for each statement execute function note_change();
create trigger note_change before insert or update or delete or truncate on users
  for each statement execute function note_change();
create trigger note_change before insert or update or delete or truncate on team_memberships
  for each statement execute function note_change();
create trigger note_change before insert or update or delete or truncate on service_accounts
  for each statement execute function note_change();
-- Every column of a key but last_used_at, which changes nothing.
create trigger note_change before insert or delete or truncate or update of public_id, secret_hash,
  name, user_id, service_account_id, model_grant_mode, granted_models, expires_at, revoked_at,
  rotated_at, config_entry, config_hash on api_keys
  for each statement execute function note_change();
