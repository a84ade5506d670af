-- Reports count only requests whose owner is known: anybody can send the others, as many as they like.
-- A replica of an earlier version may still insert a summary without an owner. It counts in
-- request_log_hours, which is how many rows there are, and in no report.
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
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (facet, key, bucket_start, latency_bin) do update set
    request_count = known.request_count + excluded.request_count,
    error_count = known.error_count + excluded.error_count;
  return null;
end
$$;

-- What was counted without an owner so far goes: the sum over the owners is what all of them did.
lock table traffic_rollups in share row exclusive mode;
delete from traffic_rollups where facet = 'all';
insert into traffic_rollups (facet, key, bucket_start, latency_bin, request_count, error_count)
select 'all', '', bucket_start, latency_bin, sum(request_count), sum(error_count)
from traffic_rollups where facet = 'owner' group by bucket_start, latency_bin;
delete from harness_rollups where owner_kind = 'none';
