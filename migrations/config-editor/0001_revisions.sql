-- Changes of the managed config file that can be undone, the newest last.
create table revisions (
  revision_id bigint generated always as identity primary key,
  file text not null,
  -- Null: there was no such file.
  before_text text,
  after_text text,
  action text not null,
  object_id text not null,
  actor_email text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index revisions_file on revisions (file, revision_id);
