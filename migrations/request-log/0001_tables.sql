-- One row for each finished inference request. Partitions are days (UTC) and made by the gateway;
-- a table without foreign keys and without a default partition can be emptied a day at a time.
create table request_logs (
  -- A UUIDv7; occurred_at is the time inside it, so that an id leads to its partition.
  id uuid not null,
  occurred_at timestamptz not null,
  request_id text not null,
  -- Who called; null when authentication failed.
  owner_kind text check (owner_kind in ('user', 'service_account')),
  user_id text,
  team_id text,
  service_account_id text,
  api_key_id text,
  model_key text,
  resolved_model_key text,
  provider_key text,
  upstream_model text,
  operation text not null,
  stream boolean not null,
  status_code integer not null,
  outcome text not null,
  error_code text,
  error_message text,
  latency_ms integer not null,
  prompt_tokens bigint,
  completion_tokens bigint,
  total_tokens bigint,
  -- Parts of prompt_tokens, and of completion_tokens.
  cache_read_tokens bigint,
  cache_write_tokens bigint,
  reasoning_tokens bigint,
  pricing_status text,
  -- USD * 10^12.
  cost_pico_usd bigint,
  service text,
  component text,
  env text,
  user_agent text,
  agent_harness_key text not null,
  agent_harness_label text not null,
  -- Null where the dimension does not exist, which is not the same as 0.
  exposed_tool_count integer,
  invoked_tool_count integer,
  referenced_mcp_server_count integer,
  filtered_tool_count integer,
  has_payload boolean not null default false,
  request_payload_truncated boolean not null default false,
  response_payload_truncated boolean not null default false,
  config_version text not null,
  metadata_json jsonb not null,
  primary key (occurred_at, id)
) partition by range (occurred_at);
create index on request_logs (request_id);

-- The executions that a request caused, in order.
create table request_log_attempts (
  request_log_id uuid not null,
  -- That of the request.
  occurred_at timestamptz not null,
  request_id text not null,
  -- From 1.
  attempt_number integer not null,
  provider_key text not null,
  provider_type text not null,
  route_id text not null,
  upstream_model text not null,
  status text not null,
  started_at timestamptz not null,
  latency_ms integer not null,
  first_byte_ms integer,
  upstream_status integer,
  error_code text,
  error_message text,
  primary key (occurred_at, request_log_id, attempt_number)
) partition by range (occurred_at);
create index on request_log_attempts (request_id);

-- What was asked and answered, sanitised. Text as it was written, which `json` keeps and `jsonb`
-- would not.
create table request_log_payloads (
  request_log_id uuid not null,
  -- That of the request.
  occurred_at timestamptz not null,
  request_id text not null,
  request_json json not null,
  response_json json not null,
  primary key (occurred_at, request_log_id)
) partition by range (occurred_at);
create index on request_log_payloads (request_id);

-- The tags of a request: service, component and env, and the caller's own.
create table request_log_tags (
  request_log_id uuid not null,
  -- That of the request.
  occurred_at timestamptz not null,
  request_id text not null,
  key text not null,
  value text not null,
  primary key (occurred_at, request_log_id, key)
) partition by range (occurred_at);
create index on request_log_tags (request_id);
create index on request_log_tags (key, value);

-- Requests and tool counts by owner and coding agent, in buckets of twelve hours (UTC). They are
-- added up with the summaries, and stay when those are purged.
create table harness_rollups (
  bucket_start timestamptz not null,
  -- none: authentication failed, and the id is empty.
  owner_kind text not null check (owner_kind in ('user', 'service_account', 'none')),
  owner_id text not null,
  agent_harness_key text not null,
  agent_harness_label text not null,
  request_count bigint not null,
  -- For each dimension the sum, and the number of requests in which it was recorded.
  exposed_tool_sum bigint not null,
  exposed_tool_requests bigint not null,
  invoked_tool_sum bigint not null,
  invoked_tool_requests bigint not null,
  referenced_mcp_server_sum bigint not null,
  referenced_mcp_server_requests bigint not null,
  filtered_tool_sum bigint not null,
  filtered_tool_requests bigint not null,
  primary key (bucket_start, owner_kind, owner_id, agent_harness_key)
);
