-- What the cost is the sum of: [unit, quantity, pico-USD of one] each; null: of rows from before, and of
-- those without a cost. The tier is as the upstream named it.
alter table usage_cost_events add column line_items jsonb, add column service_tier text,
  add column price_source text;
alter table budget_rejected_charges add column line_items jsonb, add column service_tier text,
  add column price_source text;
