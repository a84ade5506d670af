/** Migration `0001_notes`. Names without a schema are in the plugin's own schema. */
export const tables = `
create table notes (
  note_id uuid primary key default gen_random_uuid(),
  author text not null,
  text text not null,
  created_at timestamptz not null default now()
);
create index notes_created_at on notes (created_at desc);
`
