-- argon2id. Who has no row here cannot sign in.
create table user_passwords (
  user_id uuid primary key references users (id) on delete cascade,
  hash text not null,
  changed_at timestamptz not null default now()
);

create table user_sessions (
  id uuid primary key,
  -- SHA-256 of the token, in hexadecimal digits.
  token_hash text not null unique,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null,
  -- Written at most once a minute.
  last_used_at timestamptz not null
);
create index on user_sessions (user_id);

-- What an administrator changed: the config file has no say in these fields any more.
alter table teams add column admin_fields text[] not null default '{}';
alter table users add column admin_fields text[] not null default '{}';
alter table service_accounts add column admin_fields text[] not null default '{}';
alter table api_keys
  add column admin_fields text[] not null default '{}',
  -- The secret before the rotation, valid for a while.
  add column previous_secret_hash text,
  add column previous_until timestamptz;
