-- Null in entries from before.
alter table audit_log
  add column address text,
  add column user_agent text,
  -- success, or the code of the error that refused it.
  add column outcome text,
  -- Events that are alike within a minute share an entry.
  add column occurrences bigint not null default 1;
