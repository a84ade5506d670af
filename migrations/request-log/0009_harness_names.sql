-- What administrators call coding agents that no rule knows.
create table harness_names (
  -- How their User-Agents start, in lower case.
  starts text primary key,
  key text not null,
  label text not null,
  created_at timestamptz not null default now()
);

create function harness_names_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('harness_names_changed', '');
  return null;
end
$$;
create trigger changed after insert or update or delete on harness_names
  for each statement execute function harness_names_changed();
