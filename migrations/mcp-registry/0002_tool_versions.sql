-- What a tool said of itself each time that it changed, the newest fifty for each tool.
create table external_mcp_tool_versions (
  id uuid primary key,
  tool_id uuid not null references external_mcp_tools (id) on delete cascade,
  schema_version integer not null,
  display_name text,
  description text,
  annotations json,
  input_schema json not null,
  schema_hash text not null,
  definition_hash text not null,
  discovered_at timestamptz not null
);
create index on external_mcp_tool_versions (tool_id, discovered_at desc, id desc);

-- What is known of tools that were found before versions were kept.
insert into external_mcp_tool_versions (id, tool_id, schema_version, display_name, description,
  annotations, input_schema, schema_hash, definition_hash, discovered_at)
select gen_random_uuid(), id, schema_version, display_name, description, annotations, input_schema,
  schema_hash, definition_hash, case when schema_version = 1 then first_discovered_at
    else last_discovered_at end
from external_mcp_tools;
