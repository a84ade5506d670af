-- What the provider calls the call: operators quote it to the provider's support.
alter table request_log_attempts add column upstream_request_id text;
