-- All prices of the rate, in pico-USD by unit: of each token, use or call; `long` has those of longer
-- prompts, `tier:…` those of other service tiers. The four columns above repeat the usual ones.
alter table model_pricing add column prices jsonb not null default '{}';
alter table model_pricing alter column context_tiers set default '{}';
