-- Lists of the control plane by coding agent, outcome and error code.
create index on request_logs (agent_harness_key, occurred_at, id);
create index on request_logs (outcome, occurred_at, id) where outcome <> 'success';
create index on request_logs (error_code, occurred_at, id) where error_code is not null;
