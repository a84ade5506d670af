-- Keys of the MCP servers that a key may use; null: all of them.
alter table api_keys add column mcp_servers text[];
-- The config file has a say in no field of a key that an administrator made.
update api_keys set admin_fields = admin_fields || '{mcp_servers}'
  where admin_fields @> '{name,grants,secret}';

drop trigger note_change on api_keys;
create trigger note_change before insert or delete or truncate or update of public_id, secret_hash,
  name, user_id, service_account_id, model_grant_mode, granted_models, mcp_servers, expires_at,
  revoked_at, rotated_at, config_entry, config_hash on api_keys
  for each statement execute function note_change();
