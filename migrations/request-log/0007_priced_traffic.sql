-- Reports count only requests that could cost something: a count of tokens is one of many that an agent
-- makes for each call of a model, and takes no time beside it. request_log_hours has all of them, because it
-- is how many rows there are.
create or replace function add_traffic() returns trigger language plpgsql set search_path from current as $$
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
  where owner_kind is not null and facets.key is not null
    and metadata_json -> 'priced' is distinct from 'false'::jsonb
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (facet, key, bucket_start, latency_bin) do update set
    request_count = known.request_count + excluded.request_count,
    error_count = known.error_count + excluded.error_count;
  return null;
end
$$;
