-- One for each budget, window and threshold.
create table budget_alerts (
  alert_id uuid primary key,
  budget_id uuid not null,
  scope_key text not null,
  scope_kind text not null,
  owner_kind text not null check (owner_kind in ('user', 'service_account')),
  owner_id text not null,
  model_id text,
  upstream_model text,
  cadence text not null,
  window_start date not null,
  -- The first day that is not in it.
  window_end date not null,
  threshold_percent integer not null,
  -- USD * 10^12, all of them as of the time when the alert was raised.
  amount_pico_usd numeric not null,
  spent_pico_usd numeric not null,
  remaining_pico_usd numeric not null,
  hard_limit boolean not null,
  created_at timestamptz not null default now(),
  unique (budget_id, cadence, window_start, threshold_percent)
);
create index on budget_alerts (created_at);

-- One for each recipient of an alert. Without any eligible recipient there is one without address.
create table budget_alert_deliveries (
  delivery_id uuid primary key,
  alert_id uuid not null references budget_alerts,
  channel text not null default 'email' check (channel = 'email'),
  user_id text,
  recipient text,
  status text not null check (status in ('pending', 'sent', 'failed')),
  -- Tries that failed.
  attempts integer not null default 0,
  -- When it may be tried (again); while somebody tries, the time by which he has given up.
  next_attempt_at timestamptz not null default now(),
  last_error text,
  sent_at timestamptz,
  check ((status = 'sent') = (sent_at is not null)),
  check (recipient is not null or status = 'failed')
);
create index on budget_alert_deliveries (alert_id);
create index on budget_alert_deliveries (next_attempt_at) where status = 'pending';
