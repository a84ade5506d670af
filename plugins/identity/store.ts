import { and, eq, inArray, isNotNull, or, sql } from 'drizzle-orm'
import type { Directory, Owner, Principal } from 'model-gateway/identity'
import type { Database } from 'model-gateway/plugin'
import { modelSet } from '../_shared/model-names.ts'
import type { Existing, SeedPlan } from './seed.ts'
import { apiKeys, passwords, serviceAccounts, teamMemberships, teams, users } from './tables.ts'

/** Notification channel for committed changes that affect authentication. */
export const CHANGED = 'identity_changed'

const SEED_LOCK = 'identity.seed'
const ROWS_PER_INSERT = 1000

type Drizzle = Pick<Database['drizzle'], 'select' | 'insert' | 'update' | 'execute'>

/** A key with all that decides about it. */
export interface KeyRecord {
  readonly principal: Principal
  readonly secretHash: Buffer
  /** The previous secret after a rotation, and until when it is valid. */
  readonly previous: { readonly secretHash: Buffer; readonly until: number } | undefined
  readonly revoked: boolean
  /** Milliseconds since 1970, or Infinity. */
  readonly expiresAt: number
  readonly ownerActive: boolean
  /** Last recorded use, in milliseconds since 1970. */
  lastUsedAt: number
}

/** Number of the last committed change. */
export async function readRevision({ sql }: Database): Promise<bigint> {
  const [row] = await sql<{ value: bigint }[]>`select value from identity.revision`
  if (row === undefined) throw new Error('the table identity.revision is empty')
  return row.value
}

interface JoinedRow {
  readonly revision: bigint
  readonly id: string | null
  readonly public_id: string
  readonly secret_hash: string
  readonly previous_secret_hash: string | null
  readonly previous_until: Date | null
  readonly model_grant_mode: 'explicit' | 'all'
  readonly granted_models: string[]
  readonly mcp_servers: string[] | null
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
  readonly revoked_at: Date | null
  readonly user_id: string | null
  readonly service_account_id: string | null
  readonly owner_name: string
  readonly status: string
  readonly owner_mode: string
  readonly owner_models: string[]
  readonly email: string
  readonly request_logging_enabled: boolean
  readonly account_key: string
  readonly team_id: string | null
  readonly team_key: string
  readonly team_mode: string
  readonly team_models: string[]
}

/** All keys by public id, and their revision. One statement, so that both are consistent. */
export async function readKeys({ sql }: Database): Promise<{
  readonly revision: bigint
  readonly keys: ReadonlyMap<string, KeyRecord>
}> {
  const rows = await sql<JoinedRow[]>`
    select r.value as revision, k.id, k.public_id, k.secret_hash, k.previous_secret_hash,
      k.previous_until, k.model_grant_mode,
      k.granted_models, k.mcp_servers, k.expires_at, k.last_used_at, k.revoked_at, k.user_id,
      k.service_account_id, coalesce(u.name, s.name) as owner_name,
      coalesce(u.status, s.status) as status,
      coalesce(u.model_access_mode, s.model_access_mode) as owner_mode,
      coalesce(u.allowed_models, s.allowed_models) as owner_models,
      u.email, u.request_logging_enabled, s.key as account_key,
      t.id as team_id, t.key as team_key, t.model_access_mode as team_mode,
      t.allowed_models as team_models
    from identity.revision r
      left join identity.api_keys k on true
      left join identity.users u on u.id = k.user_id
      left join identity.service_accounts s on s.id = k.service_account_id
      left join identity.team_memberships m on m.user_id = u.id
      left join identity.teams t on t.id = coalesce(m.team_id, s.team_id)`
  const [first] = rows
  if (first === undefined) throw new Error('the table identity.revision is empty')
  const keys = new Map<string, KeyRecord>()
  for (const row of rows) {
    if (row.id !== null) keys.set(row.public_id, keyRecord(row, row.id))
  }
  return { revision: first.revision, keys }
}

type TeamRole = NonNullable<Directory['users'][number]['team']>['role']

/** Every possible owner of a call, including disabled ones. */
export async function readDirectory({ sql }: Database): Promise<Directory> {
  type User = Directory['users'][number]
  const rows = await sql<(Omit<User, 'team'> & { team_id: string | null; role: TeamRole })[]>`
    select u.id, u.email, u.name, u.status, m.team_id, m.role
    from identity.users u left join identity.team_memberships m on m.user_id = u.id`
  const users = rows.map(({ team_id, role, ...user }) => ({
    ...user,
    team: team_id === null ? undefined : { id: team_id, role },
  }))
  const serviceAccounts = await sql<Directory['serviceAccounts'][number][]>`
    select id, key, name, team_id as "teamId" from identity.service_accounts`
  return { users, serviceAccounts }
}

function keyRecord(row: JoinedRow, apiKeyId: string): KeyRecord {
  const owner = ownerOf(row)
  const allowlists: ReadonlySet<string>[] = []
  if (row.owner_mode === 'restricted') allowlists.push(modelSet(row.owner_models))
  if (row.team_mode === 'restricted') allowlists.push(modelSet(row.team_models))
  return {
    principal: {
      apiKeyId,
      owner,
      ownershipScopeKey:
        owner.kind === 'user'
          ? `user:${owner.userId}`
          : `service_account:${owner.serviceAccountId}`,
      grants: row.model_grant_mode === 'all' ? 'all' : modelSet(row.granted_models),
      allowlists,
      ...(row.mcp_servers !== null && { mcpServers: new Set(row.mcp_servers) }),
    },
    secretHash: Buffer.from(row.secret_hash, 'hex'),
    previous: previousOf(row),
    revoked: row.revoked_at !== null,
    expiresAt: row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
    ownerActive: row.status === 'active',
    lastUsedAt: row.last_used_at?.getTime() ?? 0,
  }
}

function previousOf({ previous_secret_hash: hash, previous_until: until }: JoinedRow) {
  if (hash === null || until === null) return undefined
  return { secretHash: Buffer.from(hash, 'hex'), until: until.getTime() }
}

function ownerOf(row: JoinedRow): Owner {
  const team = row.team_id === null ? undefined : { id: row.team_id, key: row.team_key }
  if (row.user_id !== null) {
    return {
      kind: 'user',
      userId: row.user_id,
      email: row.email,
      name: row.owner_name,
      team,
      requestLoggingEnabled: row.request_logging_enabled,
    }
  }
  if (row.service_account_id === null || team === undefined) {
    throw new Error(`the owner of key ${row.id} is incomplete`)
  }
  return {
    kind: 'service_account',
    serviceAccountId: row.service_account_id,
    key: row.account_key,
    name: row.owner_name,
    team,
  }
}

/** Records uses, at most one per key and minute across replicas. */
export async function writeLastUsed(
  { sql }: Pick<Database, 'sql'>,
  uses: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = JSON.stringify([...uses].map(([id, at]) => ({ id, at: new Date(at).toISOString() })))
  // Rows are locked in the same order everywhere, so that replicas cannot deadlock.
  await sql`
    with due as materialized (
      select k.id, used.at from identity.api_keys k
        join json_to_recordset(${rows}::text::json) as used (id uuid, at timestamptz) using (id)
      where k.last_used_at is null or k.last_used_at <= used.at - interval '1 minute'
      order by k.id for no key update of k
    )
    update identity.api_keys k set last_used_at = due.at from due where k.id = due.id`
}

/**
 * Reads, plans and writes under a lock, so that replicas seed one after the other. Writes nothing
 * if nothing changed.
 */
export async function seed(
  { drizzle }: Database,
  publicIds: readonly string[],
  plan: (existing: Existing) => SeedPlan,
): Promise<SeedPlan> {
  return await drizzle.transaction(async (tx) => {
    await lock(tx)
    const planned = plan(await readExisting(tx, publicIds))
    await writePlan(tx, planned)
    return planned
  })
}

/** Only plans, so that errors are known before anything is written. */
export async function checkSeed(
  { drizzle }: Database,
  publicIds: readonly string[],
  plan: (existing: Existing) => SeedPlan,
): Promise<void> {
  // repeatable read, so that a key that another replica seeds now is not seen without its owner.
  const moment = { isolationLevel: 'repeatable read', accessMode: 'read only' } as const
  plan(await drizzle.transaction((tx) => readExisting(tx, publicIds), moment))
}

/** Replicas take turns, and administrators cannot change rows meanwhile. */
async function lock(tx: Drizzle): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext(${SEED_LOCK}))`)
  await tx.execute(sql`select from identity.revision for update`)
}

async function readExisting(tx: Drizzle, publicIds: readonly string[]): Promise<Existing> {
  return {
    teams: await tx.select().from(teams),
    users: await tx.select().from(users),
    withPassword: new Set((await tx.select().from(passwords)).map(({ userId }) => userId)),
    memberships: await tx.select().from(teamMemberships),
    serviceAccounts: await tx.select().from(serviceAccounts),
    apiKeys: await tx
      .select()
      .from(apiKeys)
      .where(or(isNotNull(apiKeys.configEntry), inArray(apiKeys.publicId, [...publicIds]))),
  }
}

async function writePlan(tx: Drizzle, plan: SeedPlan): Promise<void> {
  const updatedAt = sql`now()`
  for (const rows of chunks(plan.teams.inserts)) await tx.insert(teams).values(rows)
  for (const { id, set } of plan.teams.updates) {
    await tx
      .update(teams)
      .set({ ...set, updatedAt })
      .where(eq(teams.id, id))
  }
  for (const rows of chunks(plan.users.inserts)) await tx.insert(users).values(rows)
  for (const { id, set } of plan.users.updates) {
    await tx
      .update(users)
      .set({ ...set, updatedAt })
      .where(eq(users.id, id))
  }
  for (const rows of chunks(plan.memberships)) {
    await tx
      .insert(teamMemberships)
      .values(rows)
      .onConflictDoUpdate({
        target: teamMemberships.userId,
        set: { teamId: sql`excluded.team_id`, role: sql`excluded.role` },
      })
  }
  for (const rows of chunks(plan.serviceAccounts.inserts)) {
    await tx.insert(serviceAccounts).values(rows)
  }
  for (const { id, set } of plan.serviceAccounts.updates) {
    await tx
      .update(serviceAccounts)
      .set({ ...set, updatedAt })
      .where(eq(serviceAccounts.id, id))
  }
  const moving = [...plan.displacedKeys, ...plan.apiKeys.updates.map(({ id }) => id)]
  for (const ids of chunks(moving)) {
    // Two steps, because entries may have swapped positions: first clear all, then set them.
    await tx
      .update(apiKeys)
      .set({ configEntry: null })
      .where(and(inArray(apiKeys.id, ids), isNotNull(apiKeys.configEntry)))
  }
  for (const { id, set } of plan.apiKeys.updates) {
    await tx
      .update(apiKeys)
      .set({ ...set, updatedAt })
      .where(eq(apiKeys.id, id))
  }
  for (const rows of chunks(plan.apiKeys.inserts)) await tx.insert(apiKeys).values(rows)
}

function* chunks<T>(rows: readonly T[]): Iterable<T[]> {
  for (let at = 0; at < rows.length; at += ROWS_PER_INSERT) {
    yield rows.slice(at, at + ROWS_PER_INSERT)
  }
}
