/** What the file could change of a row: all of it is the administrator's in a row that one made. */
export const FILE_FIELDS = {
  users: ['name', 'role', 'request_logging_enabled', 'model_access', 'team'],
  teams: ['name', 'model_access'],
  service_accounts: ['name', 'team', 'model_access'],
  api_keys: ['name', 'grants', 'mcp_servers', 'secret'],
} as const
