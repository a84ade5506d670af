-- Null in entries from before.
alter table audit_log
  add column address text,
  add column user_agent text,
  -- success, or the code of the error that refused it.
  add column outcome text,
  -- Events that are alike within a minute share an entry.
  add column occurrences bigint not null default 1;
-- Refusals are kept for 90 days.
create index on audit_log (occurred_at) where outcome <> 'success';
