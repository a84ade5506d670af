-- One row for each evaluator that judged something. Never holds what it judged.
create table guardrail_decisions (
  -- A UUIDv7; occurred_at is the time inside it, so that ids are in the order of time.
  id uuid primary key,
  occurred_at timestamptz not null,
  request_id text not null,
  -- Of a call through the MCP proxy.
  mcp_invocation_id text,
  phase text not null,
  -- global, model_route:<model>/<provider>/<upstream_model> or mcp_server:<key>
  scope text not null,
  mode text not null check (mode in ('audit', 'deny')),
  -- The pack, the managed check by its name in the config, or tool_call.
  evaluator text not null,
  -- The kind of the managed check.
  managed_service text,
  pack_id text,
  rule_id text,
  action text not null check (action in ('allow', 'audit', 'deny', 'transformed')),
  reason_code text not null,
  latency_ms double precision not null,
  -- Where a managed check could not judge.
  failure_disposition text check (failure_disposition in ('fail_open', 'fail_closed')),
  transformation text not null check (transformation in ('none', 'applied', 'rejected')),
  -- SHA-256 of what was judged, in hexadecimal digits.
  content_sha256 text not null,
  config_version text not null
);
-- Lists are in the order of the ids, the newest first.
create index on guardrail_decisions (request_id, id);
create index on guardrail_decisions (scope, id);
create index on guardrail_decisions (phase, id);
create index on guardrail_decisions (evaluator, id);
-- Nearly all allow.
create index on guardrail_decisions (action, id) where action <> 'allow';
