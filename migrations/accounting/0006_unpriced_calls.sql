-- What becomes of calls that have no price: they count as nothing, or are refused.
alter table budgets add column unpriced text not null default 'allow'
  check (unpriced in ('allow', 'refuse'));
