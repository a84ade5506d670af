-- Histograms of combined filters count failures without reading rows: the condition is that of
-- error_count.
create index on request_logs (occurred_at, id) where outcome not in ('success', 'client_abort');
