-- Lists of the control plane. Each filter has an index that gives its rows newest first; values that
-- most rows have are left out, because those rows are found fast without one.
create index on request_logs (model_key, occurred_at, id);
create index on request_logs (provider_key, occurred_at, id) where provider_key is not null;
create index on request_logs (user_id, occurred_at, id) where user_id is not null;
create index on request_logs (team_id, occurred_at, id) where team_id is not null;
create index on request_logs (service_account_id, occurred_at, id)
  where service_account_id is not null;
create index on request_logs (status_code, occurred_at, id) where status_code <> 200;
create index on request_logs (operation, occurred_at, id) where operation <> 'chat_completions';
create index on request_logs (service, occurred_at, id) where service is not null;
create index on request_logs (component, occurred_at, id) where component is not null;
create index on request_logs (env, occurred_at, id) where env is not null;
drop index request_log_tags_key_value_idx;
create index on request_log_tags (key, value, occurred_at, request_log_id);

-- How many requests were logged in each hour.
create table request_log_hours (
  hour timestamptz primary key,
  request_count bigint not null,
  error_count bigint not null
);

-- Requests, errors and latencies in buckets of twelve hours (UTC), in all and by resolved model,
-- provider and owner.
create table traffic_rollups (
  facet text not null check (facet in ('all', 'model', 'provider', 'owner')),
  -- Empty for all; for an owner user:<user_id> or service_account:<service_account_id>.
  key text not null,
  bucket_start timestamptz not null,
  -- n: successes that took from 2^(n/4) to 2^((n+1)/4) ms. -1: everything else.
  latency_bin smallint not null,
  request_count bigint not null,
  -- Neither successes nor calls that their caller left.
  error_count bigint not null,
  primary key (facet, key, bucket_start, latency_bin)
);

-- Whoever inserts summaries has them added up, in the same transaction. Keys are written in order,
-- so that replicas cannot deadlock.
create function add_traffic() returns trigger language plpgsql set search_path from current as $$
begin
  insert into request_log_hours as known (hour, request_count, error_count)
  select date_bin('1 hour', occurred_at, 'epoch'), count(*),
    count(*) filter (where outcome not in ('success', 'client_abort'))
  from added group by 1 order by 1
  on conflict (hour) do update set
    request_count = known.request_count + excluded.request_count,
    error_count = known.error_count + excluded.error_count;

  insert into traffic_rollups as known
    (facet, key, bucket_start, latency_bin, request_count, error_count)
  select facets.facet, facets.key, date_bin('12 hours', occurred_at, 'epoch'),
    case when outcome = 'success'
      then least(79, floor(4 * ln(greatest(1, latency_ms)::float8) / ln(2::float8)))::smallint
      else -1 end,
    count(*), count(*) filter (where outcome not in ('success', 'client_abort'))
  from added cross join lateral (values
    ('all', ''), ('model', resolved_model_key), ('provider', provider_key),
    ('owner', owner_kind || ':' || coalesce(user_id, service_account_id))) as facets (facet, key)
  where facets.key is not null
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (facet, key, bucket_start, latency_bin) do update set
    request_count = known.request_count + excluded.request_count,
    error_count = known.error_count + excluded.error_count;
  return null;
end
$$;
create trigger add_traffic after insert on request_logs
  referencing new table as added for each statement execute function add_traffic();

-- The rows that are there already.
create table earlier (like request_logs);
create trigger add_traffic after insert on earlier
  referencing new table as added for each statement execute function add_traffic();
insert into earlier select * from request_logs;
drop table earlier;

-- One row: what the purge has done.
create table retention (
  id integer primary key check (id = 1),
  -- Summaries from before are gone, or going.
  kept_since timestamptz not null,
  -- When the last scheduled purge was done; there is one a UTC day at most.
  scheduled_at timestamptz
);
insert into retention values (1, 'epoch');
