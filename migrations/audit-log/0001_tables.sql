-- Who changed what, written in the transaction of the change.
create table audit_log (
  id uuid primary key,
  occurred_at timestamptz not null default clock_timestamp(),
  -- Null: the operator, by a command.
  actor_user_id uuid,
  actor_email text,
  request_id text not null,
  -- What was done to what: user.create
  action text not null,
  object_kind text not null,
  object_id text not null,
  before jsonb,
  after jsonb
);
create index on audit_log (occurred_at, id);
create index on audit_log (object_kind, object_id, occurred_at);
create index on audit_log (actor_user_id, occurred_at);
create index on audit_log (request_id);
