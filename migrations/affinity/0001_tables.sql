-- Which provider keeps a piece of state, and which route a conversation is on. Keys are hashes. It can be
-- emptied at any time: what is not known is drawn by its hash.
create table places (
  key text primary key,
  -- The id of a provider, or of a route.
  place text not null,
  noted_at timestamptz not null default now()
);

create index places_noted_at on places (noted_at);
