/**
 * Migration `0001_requests`; names without a schema are in the plugin's schema. The requester is
 * kept by id and e-mail without a foreign key, because other plugins' tables may change.
 */
export const requests = `
create table requests (
  request_id uuid primary key default gen_random_uuid(),
  user_id text not null,
  email text not null,
  model text not null,
  reason text not null,
  status text not null default 'open' check (status in ('open', 'granted', 'refused')),
  note text,
  decided_by text,
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  check ((status = 'open') = (decided_at is null))
);
create index requests_by_time on requests (created_at desc, request_id);
`

/** Migration `0002_one_open`: added later, so 0001 stays as released. */
export const oneOpen = `
create unique index requests_one_open on requests (user_id, model) where status = 'open';
`
