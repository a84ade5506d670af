import type { ConfigPath, Problem } from 'model-gateway/plugin'

/** The field name of a column, as in `admin_fields`. */
const FIELD_OF: Readonly<Record<string, string>> = {
  name: 'name',
  role: 'role',
  requestLoggingEnabled: 'request_logging_enabled',
  modelAccessMode: 'model_access',
  allowedModels: 'model_access',
  teamId: 'team',
  modelGrantMode: 'grants',
  grantedModels: 'grants',
  mcpServers: 'mcp_servers',
  publicId: 'secret',
  secretHash: 'secret',
}

/**
 * The stated fields that the file may still change. Warns where the file contradicts a value that
 * an administrator set.
 */
export function leaveToAdmin<T extends object>(
  stated: T,
  row: { readonly adminFields: readonly string[] } | undefined,
  path: ConfigPath,
  warnings: Problem[],
): T {
  if (row === undefined || row.adminFields.length === 0) return stated
  const kept: Record<string, unknown> = {}
  const contradicted = new Set<string>()
  for (const [column, value] of Object.entries(stated)) {
    const field = FIELD_OF[column]
    if (field === undefined || !row.adminFields.includes(field)) kept[column] = value
    else if (comparable(value) !== comparable((row as Record<string, unknown>)[column])) {
      contradicted.add(field)
    }
  }
  for (const field of contradicted) {
    warnings.push({ path, message: messageOf(field) })
  }
  // Omitted fields are not written.
  return kept as T
}

/** The same for the team of a user, which is in a separate table. */
export function leaveTeamToAdmin<T extends { readonly teamId: string; readonly role?: string }>(
  stated: T | undefined,
  existing: {
    readonly row: { readonly adminFields: readonly string[] } | undefined
    readonly member: { readonly teamId: string; readonly role: string } | undefined
  },
  path: ConfigPath,
  warnings: Problem[],
): T | undefined {
  if (stated === undefined || existing.row?.adminFields.includes('team') !== true) return stated
  const { teamId, role } = existing.member ?? {}
  if (stated.teamId !== teamId || stated.role !== role) {
    warnings.push({ path: [...path, 'team'], message: messageOf('team') })
  }
  return undefined
}

/** Lists of models are equal in any order. */
function comparable(value: unknown): string | undefined {
  return JSON.stringify(Array.isArray(value) ? [...new Set(value)].toSorted() : value)
}

function messageOf(field: string): string {
  return `an administrator has set its ${field}, so the value in the file is ignored`
}
