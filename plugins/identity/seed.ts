import { createHash } from 'node:crypto'
import { ConfigError, type ConfigPath, type Problem } from 'model-gateway/plugin'
import { mcpServerColumn } from './_shared/fields.ts'
import type {
  ApiKeyEntry,
  ModelAccessEntry,
  ServiceAccountEntry,
  TeamEntry,
  UserEntry,
} from './config.ts'
import { hashSecret, parseKey } from './keys.ts'
import { lastAdmins } from './seed-admins.ts'
import { leaveTeamToAdmin, leaveToAdmin } from './seed-fields.ts'
import type { apiKeys, serviceAccounts, teamMemberships, teams, users } from './tables.ts'

export interface SeedEntries {
  readonly teams: readonly TeamEntry[]
  readonly users: readonly UserEntry[]
  readonly serviceAccounts: readonly ServiceAccountEntry[]
}

type KeyRow = typeof apiKeys.$inferSelect

/** The rows in the database that the file declares. */
export interface Existing {
  readonly teams: readonly (typeof teams.$inferSelect)[]
  readonly users: readonly (typeof users.$inferSelect)[]
  /** Ids of the users who have a password. */
  readonly withPassword: ReadonlySet<string>
  readonly memberships: readonly (typeof teamMemberships.$inferSelect)[]
  readonly serviceAccounts: readonly (typeof serviceAccounts.$inferSelect)[]
  readonly apiKeys: readonly KeyRow[]
}

interface Changes<Row> {
  readonly inserts: Row[]
  readonly updates: { readonly id: string; readonly set: Partial<Row> }[]
}

/** The changes that apply the file to the database, except for fields that administrators set. */
export interface SeedPlan {
  readonly teams: Changes<typeof teams.$inferInsert>
  readonly users: Changes<typeof users.$inferInsert>
  readonly memberships: (typeof teamMemberships.$inferInsert)[]
  readonly serviceAccounts: Changes<typeof serviceAccounts.$inferInsert>
  readonly apiKeys: Changes<typeof apiKeys.$inferInsert>
  /** Keys whose entry in the file now names another key. They lose only that link. */
  readonly displacedKeys: string[]
  /** Where the file contradicts an administrator, whose change wins. */
  readonly warnings: Problem[]
}

/** SHA-256 of the stated fields, in any order. */
function entryHash(stated: Readonly<Record<string, unknown>>): string {
  const sorted = JSON.stringify(stated, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
  return createHash('sha256').update(sorted).digest('hex')
}

type Stated<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Only fields with a value, because omitted fields are not written. */
function stated<T extends object>(fields: T): Stated<T> {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as Stated<T>
}

function accessColumns(access: ModelAccessEntry | undefined) {
  return { modelAccessMode: access?.mode, allowedModels: access && [...(access.models ?? [])] }
}

/** Public ids of all keys of the file. */
export function seededPublicIds(entries: SeedEntries): string[] {
  return [...entries.users, ...entries.serviceAccounts]
    .flatMap((owner) => owner.api_keys ?? [])
    .flatMap((key) => parseKey(key.value.reveal())?.publicId ?? [])
}

/**
 * Compares the file with the database. Pure except for `newId`. Throws ConfigError for a key that
 * already belongs to another owner.
 */
export function planSeed(entries: SeedEntries, existing: Existing, newId: () => string): SeedPlan {
  const plan: SeedPlan = {
    teams: { inserts: [], updates: [] },
    users: { inserts: [], updates: [] },
    memberships: [],
    serviceAccounts: { inserts: [], updates: [] },
    apiKeys: { inserts: [], updates: [] },
    displacedKeys: [],
    warnings: [],
  }
  const teamIds = planTeams(entries.teams, existing, plan, newId)
  const teamId = (key: string, path: ConfigPath) => {
    const id = teamIds.get(key)
    if (id === undefined) throw new ConfigError([{ path, message: `unknown team ${key}` }])
    return id
  }

  const keys: OwnedKey[] = []
  const knownUsers = new Map(existing.users.map((row) => [row.email, row]))
  const memberships = new Map(existing.memberships.map((row) => [row.userId, row]))
  const neededAdmins = lastAdmins(entries.users, existing)
  for (const [i, entry] of entries.users.entries()) {
    const { api_keys, budget: _, ...written } = entry
    const email = entry.email.toLowerCase()
    const path = ['users', i]
    const row = knownUsers.get(email)
    const id = row?.id ?? newId()
    const needed = neededAdmins.has(id)
    if (needed) {
      const message = `${email} stays a platform admin, because no other platform admin can sign in`
      plan.warnings.push({ path: [...path, 'role'], message })
    }
    // Exclude the role from the hash too, so that the entry counts as changed once another admin
    // exists.
    const own = needed ? { ...written, role: undefined } : written
    const configHash = entryHash(own)
    keys.push(...ownedKeys(api_keys, path, { userId: id, serviceAccountId: null }, `user:${email}`))
    if (row?.status === 'disabled') {
      plan.warnings.push({
        path,
        message: `${email} was disabled by an administrator and stays disabled`,
      })
    }
    const fields = stated({
      name: own.name,
      role: own.role,
      requestLoggingEnabled: own.request_logging_enabled,
      ...accessColumns(own.model_access),
    })
    const set = leaveToAdmin(fields, row, path, plan.warnings)
    const member = memberships.get(id)
    const inTeam = own.team && teamId(own.team.key, [...path, 'team', 'key'])
    const roleThere = member?.teamId === inTeam ? member?.role : undefined
    const team =
      inTeam === undefined
        ? undefined
        : { teamId: inTeam, ...stated({ role: own.team?.role ?? roleThere }) }
    const membership = leaveTeamToAdmin(team, { row, member }, path, plan.warnings)
    if (row?.configHash === configHash) continue
    if (row === undefined)
      plan.users.inserts.push({ ...set, name: own.name, id, email, configHash })
    else plan.users.updates.push({ id, set: { ...set, configHash } })
    if (membership !== undefined) plan.memberships.push({ userId: id, ...membership })
  }

  const knownAccounts = new Map(existing.serviceAccounts.map((row) => [row.key, row]))
  for (const [i, entry] of entries.serviceAccounts.entries()) {
    const { api_keys, budget: _, ...own } = entry
    const path = ['service_accounts', i]
    const row = knownAccounts.get(own.key)
    const id = row?.id ?? newId()
    const configHash = entryHash(own)
    keys.push(
      ...ownedKeys(
        api_keys,
        path,
        { userId: null, serviceAccountId: id },
        `service_account:${own.key}`,
      ),
    )
    if (row?.status === 'disabled') {
      const message = `${own.key} was disabled by an administrator and stays disabled`
      plan.warnings.push({ path, message })
    }
    const fields = {
      name: own.name,
      teamId: teamId(own.team, [...path, 'team']),
      ...stated(accessColumns(own.model_access)),
    }
    const set = { ...leaveToAdmin(fields, row, path, plan.warnings), configHash }
    if (row?.configHash === configHash) continue
    if (row === undefined) plan.serviceAccounts.inserts.push({ ...set, id, key: own.key })
    else plan.serviceAccounts.updates.push({ id, set })
  }

  planKeys(keys, existing.apiKeys, plan, newId)
  return plan
}

function planTeams(
  entries: readonly TeamEntry[],
  existing: Existing,
  plan: SeedPlan,
  newId: () => string,
): ReadonlyMap<string, string> {
  const known = new Map(existing.teams.map((row) => [row.key, row]))
  const ids = new Map(existing.teams.map((row) => [row.key, row.id]))
  for (const [i, entry] of entries.entries()) {
    const row = known.get(entry.key)
    const id = row?.id ?? newId()
    ids.set(entry.key, id)
    const configHash = entryHash(entry)
    const fields = { name: entry.name, ...stated(accessColumns(entry.model_access)) }
    const set = { ...leaveToAdmin(fields, row, ['teams', i], plan.warnings), configHash }
    if (row?.configHash === configHash) continue
    if (row === undefined) plan.teams.inserts.push({ ...set, id, key: entry.key })
    else plan.teams.updates.push({ id, set })
  }
  return ids
}

interface OwnedKey {
  readonly entry: ApiKeyEntry
  readonly path: ConfigPath
  readonly owner: { readonly userId: string | null; readonly serviceAccountId: string | null }
  /** Stable name of the entry: owner and key name. */
  readonly configEntry: string
  readonly publicId: string
  readonly secretHash: string
}

function ownedKeys(
  entries: readonly ApiKeyEntry[] | undefined,
  path: ConfigPath,
  owner: OwnedKey['owner'],
  ownerName: string,
): OwnedKey[] {
  return (entries ?? []).map((entry, i) => {
    const at = [...path, 'api_keys', i]
    const parsed = parseKey(entry.value.reveal())
    if (parsed === undefined) {
      throw new ConfigError([{ path: [...at, 'value'], message: 'is not a gateway key' }])
    }
    return {
      entry,
      path: at,
      owner,
      configEntry: `${ownerName}:${entry.name}`,
      publicId: parsed.publicId,
      secretHash: hashSecret(parsed.secret).toString('hex'),
    }
  })
}

/** The row of a key in the file: the one with its public id, else the one from the same entry. */
function planKeys(
  keys: readonly OwnedKey[],
  existing: readonly KeyRow[],
  plan: SeedPlan,
  newId: () => string,
): void {
  const byPublicId = new Map(existing.map((row) => [row.publicId, row]))
  const byEntry = new Map(existing.map((row) => [row.configEntry, row]))
  const taken = new Set(keys.map((key) => byPublicId.get(key.publicId)?.id))

  for (const key of keys) {
    const former = byEntry.get(key.configEntry)
    const row =
      byPublicId.get(key.publicId) ??
      (former === undefined || taken.has(former.id) ? undefined : former)
    const columns = keyColumns(key)
    if (row === undefined) plan.apiKeys.inserts.push({ id: newId(), ...key.owner, ...columns })
    else {
      if (!mayChange(key, row, plan.warnings)) continue
      const { publicId, secretHash, ...rest } = leaveToAdmin(columns, row, key.path, plan.warnings)
      if (row.configHash === columns.configHash && row.configEntry === key.configEntry) continue
      const set = row.rotatedAt === null ? { ...rest, publicId, secretHash } : rest
      plan.apiKeys.updates.push({ id: row.id, set })
    }
    if (former !== undefined && former.id !== row?.id) plan.displacedKeys.push(former.id)
  }
}

function keyColumns({ entry, configEntry, publicId, secretHash }: OwnedKey) {
  const { name, models, all_models = false, mcp_servers } = entry
  return {
    name,
    ...(mcp_servers !== undefined && { mcpServers: mcpServerColumn(mcp_servers) }),
    modelGrantMode: all_models ? ('all' as const) : ('explicit' as const),
    grantedModels: [...(models ?? [])],
    configEntry,
    configHash: entryHash({ name, models, all_models, mcp_servers, publicId, secretHash }),
    publicId,
    secretHash,
  }
}

/** Whether the file may change the key; warns where it contradicts an administrator. */
function mayChange(key: OwnedKey, row: KeyRow, warnings: Problem[]): boolean {
  const { entry, path, owner } = key
  if (row.userId !== owner.userId || row.serviceAccountId !== owner.serviceAccountId) {
    const message = 'is already the key of another owner'
    throw new ConfigError([{ path: [...path, 'value'], message }])
  }
  if (row.revokedAt !== null) {
    warnings.push({ path, message: `the key ${entry.name} was revoked and stays revoked` })
    return false
  }
  if (row.rotatedAt !== null && row.secretHash !== key.secretHash) {
    const message = `the key ${entry.name} was rotated by an administrator, so this value is ignored`
    warnings.push({ path: [...path, 'value'], message })
  }
  return true
}
