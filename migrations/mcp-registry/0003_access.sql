-- Who may use a server, `{"users": [], "teams": [], "service_accounts": []}`; null: every owner.
-- Which tools callers see and may call, `{"allow": null | [], "deny": []}`; null: every tool.
alter table external_mcp_servers add column allowlist jsonb, add column tools jsonb;

drop trigger note_change on external_mcp_servers;
create trigger note_change before insert or delete or truncate or update of server_key,
  display_name, server_url, auth_mode, auth_config, timeout_ms, status, recommended_catalog_key,
  allow_private, admin_fields, allowlist, tools on external_mcp_servers
  for each statement execute function note_change();
