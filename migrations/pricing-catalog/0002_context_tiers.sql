-- The rates in context_tiers are those of prompts of up to so many tokens; null: there are none in it.
alter table model_pricing add column longest_prompt integer check (longest_prompt > 0);
