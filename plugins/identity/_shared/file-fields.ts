/** What the file could change of a row: all of it is the administrator's in a row that one made. */
export const FILE_FIELDS = {
  user: ['name', 'role', 'request_logging_enabled', 'model_access', 'team'],
  team: ['name', 'model_access'],
  serviceAccount: ['name', 'team', 'model_access'],
  apiKey: ['name', 'grants', 'secret'],
} as const
