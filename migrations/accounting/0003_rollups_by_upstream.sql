-- Roll-ups tell upstreams, and how calls were priced, apart: exports need both. They are made again
-- from the rows that they sum up, which are all there.
drop table usage_rollups;
create table usage_rollups (
  -- Twelve hours of dispatch.
  bucket_start timestamptz not null,
  owner_kind text not null,
  owner_id text not null,
  model_key text not null,
  resolved_model_key text not null,
  provider_key text not null,
  upstream_model text not null,
  pricing_status text not null,
  -- Ledger rows.
  requests bigint not null default 0,
  prompt_tokens numeric not null default 0,
  completion_tokens numeric not null default 0,
  total_tokens numeric not null default 0,
  uncached_input_tokens numeric not null default 0,
  cache_read_tokens numeric not null default 0,
  cache_write_tokens numeric not null default 0,
  reasoning_tokens numeric not null default 0,
  cost_pico_usd numeric not null default 0,
  -- Charges that a hard limit kept out of the ledger; in none of the above.
  rejected_count bigint not null default 0,
  rejected_pico_usd numeric not null default 0,
  primary key (bucket_start, owner_kind, owner_id, model_key, resolved_model_key, provider_key,
    upstream_model, pricing_status)
);
create index on usage_rollups (owner_kind, owner_id, bucket_start);

insert into usage_rollups
select date_bin('12 hours', dispatched_at, '2000-01-01 00:00:00+00'), owner_kind,
  coalesce(user_id, service_account_id), model_key, resolved_model_key, provider_key,
  upstream_model, pricing_status, count(*) filter (where reason is null),
  coalesce(sum(prompt_tokens) filter (where reason is null), 0),
  coalesce(sum(completion_tokens) filter (where reason is null), 0),
  coalesce(sum(total_tokens) filter (where reason is null), 0),
  coalesce(sum(uncached_input_tokens) filter (where reason is null), 0),
  coalesce(sum(cache_read_tokens) filter (where reason is null), 0),
  coalesce(sum(cache_write_tokens) filter (where reason is null), 0),
  coalesce(sum(reasoning_tokens) filter (where reason is null), 0),
  coalesce(sum(cost_pico_usd) filter (where reason is null), 0), count(*) filter (where reason is not null),
  coalesce(sum(cost_pico_usd) filter (where reason is not null), 0)
from (
  select *, null as reason from usage_cost_events
  union all
  select * from budget_rejected_charges where reason = 'budget_exceeded'
) as rows
group by 1, 2, 3, 4, 5, 6, 7, 8;

-- For lists of them, newest first.
create index on budget_rejected_charges (occurred_at, event_id);
