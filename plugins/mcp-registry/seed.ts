import { createHash } from 'node:crypto'
import type { ConfigPath, JsonObject, Problem } from 'model-gateway/plugin'
import { DEFAULT_AUTH_MODE, DEFAULT_TIMEOUT_MS, type DeclaredServer } from './config.ts'
import { canonicalJson } from './discovery/canonical.ts'
import { secretMove } from './secret-move.ts'
import type { ServerRow } from './store.ts'

/** The changes that apply the file to the registry, except for fields that administrators set. */
export interface SeedPlan {
  readonly inserts: (Partial<ServerRow> & { readonly id: string })[]
  readonly updates: { readonly before: ServerRow; readonly set: Partial<ServerRow> }[]
  /** Where the file contradicts an administrator, whose change wins. */
  readonly warnings: Problem[]
}

/** Compares the declared servers with the registered ones. Pure except for `newId` and the time. */
export function planSeed(
  declared: readonly DeclaredServer[],
  existing: readonly ServerRow[],
  newId: () => string,
): SeedPlan {
  const plan: SeedPlan = { inserts: [], updates: [], warnings: [] }
  const known = new Map(existing.map((row) => [row.server_key, row]))
  for (const [i, entry] of declared.entries()) {
    const path = ['mcp', 'servers', i]
    const row = known.get(entry.server_key)
    const config_hash = hashOf(entry)
    if (row === undefined) {
      plan.inserts.push({ ...withDefaults(entry), id: newId(), config_hash })
      continue
    }
    if (row.status === 'disabled') {
      const message = `${row.server_key} was disabled by an administrator and stays disabled`
      plan.warnings.push({ path, message })
    }
    const { server_key: _, ...stated } = entry
    const set = leaveToAdmin(stated, row, path, plan.warnings)
    if (row.config_hash !== config_hash) {
      const move = secretMove(row, { ...row, ...set })
      plan.updates.push({ before: row, set: { ...set, ...move, config_hash } })
    }
  }
  return plan
}

/** A declared server with its defaults. */
function withDefaults(entry: DeclaredServer) {
  const { auth_config, ...rest } = entry
  return {
    auth_mode: DEFAULT_AUTH_MODE,
    timeout_ms: DEFAULT_TIMEOUT_MS,
    ...rest,
    auth_config: (auth_config ?? {}) as JsonObject,
  }
}

/** The stated fields, without those that an administrator set. */
function leaveToAdmin(
  stated: Omit<DeclaredServer, 'server_key'>,
  row: ServerRow,
  path: ConfigPath,
  warnings: Problem[],
): Partial<ServerRow> {
  const kept: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(stated)) {
    if (value === undefined) continue
    if (!row.admin_fields.includes(field)) kept[field] = value
    else if (!Bun.deepEquals(value, row[field as keyof ServerRow])) {
      const message = `an administrator has set its ${field}, so the value in the file is ignored`
      warnings.push({ path: [...path, field], message })
    }
  }
  return kept as Partial<ServerRow>
}

function hashOf(entry: DeclaredServer): string {
  return createHash('sha256')
    .update(canonicalJson(entry as JsonObject))
    .digest('hex')
}
