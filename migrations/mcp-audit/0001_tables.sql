-- One row for each tools/call, made before anything is sent.
create table mcp_tool_invocations (
  -- A UUIDv7; occurred_at is the time inside it, so that ids are in the order of time.
  id uuid primary key,
  occurred_at timestamptz not null,
  request_id text not null,
  -- As the caller chose it; 1 and "1" are two ids.
  jsonrpc_id text,
  jsonrpc_id_type text check (jsonrpc_id_type in ('string', 'number')),
  -- SHA-256 of the session id, in hexadecimal digits.
  session_hash text,
  protocol_version text,
  owner_kind text not null check (owner_kind in ('user', 'service_account')),
  user_id text,
  service_account_id text,
  team_id text,
  api_key_id text not null,
  server_id text,
  server_key text not null,
  -- Of a tool that discovery has seen.
  tool_id text,
  tool_name text not null,
  status text not null default 'started' check (status in ('started', 'success', 'tool_error',
    'unauthorized', 'policy_denied', 'upstream_error', 'gateway_error', 'timeout', 'cancelled',
    'incomplete', 'invalid_request')),
  policy_result text not null default 'not_evaluated'
    check (policy_result in ('allowed', 'denied', 'not_evaluated')),
  latency_ms integer,
  error_code text,
  guardrail_decision_id text,
  response_bytes bigint,
  -- Names of arguments, kinds of content: nothing that they hold.
  argument_metadata jsonb not null default '{}',
  result_metadata jsonb,
  finished_at timestamptz,
  -- Somebody works on it until then. After that a row that is still started is incomplete.
  held_until timestamptz not null
);
create index on mcp_tool_invocations (held_until) where status = 'started';
create index on mcp_tool_invocations (session_hash, jsonrpc_id) where status = 'started';
-- Lists are in the order of the ids, the newest first.
create index on mcp_tool_invocations (request_id, id);
create index on mcp_tool_invocations (server_key, id);
create index on mcp_tool_invocations (tool_name, id);
create index on mcp_tool_invocations (api_key_id, id);
create index on mcp_tool_invocations (user_id, id);
create index on mcp_tool_invocations (team_id, id);
-- Nearly all succeed.
create index on mcp_tool_invocations (status, id) where status <> 'success';
create index on mcp_tool_invocations (policy_result, id) where policy_result = 'denied';

-- Sanitised and bounded.
create table mcp_tool_invocation_payloads (
  invocation_id uuid primary key,
  arguments_json json,
  arguments_truncated boolean,
  result_json json,
  result_truncated boolean
);

-- Whose sessions the sessions of servers are.
create table mcp_sessions (
  server_id text not null,
  session_hash text not null,
  ownership_scope_key text not null,
  created_at timestamptz not null default now(),
  -- To the hour.
  last_used_at timestamptz not null default now(),
  primary key (server_id, session_hash)
);
create index on mcp_sessions (last_used_at);

-- What a list of tools takes of a model's context: pressure, not spend.
create table request_mcp_token_overheads (
  id uuid primary key,
  occurred_at timestamptz not null,
  request_id text not null,
  request_log_id uuid,
  server_id text not null,
  tool_count integer not null,
  token_count bigint not null,
  source text not null check (source in ('estimate'))
);
create index on request_mcp_token_overheads (request_id);
