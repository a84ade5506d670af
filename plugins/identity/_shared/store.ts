import type { AuditEntry, AuditTrail, SessionCaller } from 'model-gateway/admin'
import { type Database, GatewayError } from 'model-gateway/plugin'

export type Transaction = Parameters<AuditTrail['write']>[0]

/** A change that is under way. */
export interface Change {
  readonly sql: Transaction
  audit(entry: Omit<AuditEntry, 'actor' | 'requestId'>): Promise<void>
}

/** Whose change it is. */
export interface By {
  readonly caller: SessionCaller
  readonly requestId: string
}

/**
 * Makes a change and its audit entries in one transaction, one change at a time. This gateway has
 * the change in memory when it resolves. Throws `conflict` for a name that is taken.
 */
export type MakeChange = <T>(by: By, work: (change: Change) => Promise<T>) => Promise<T>

/** Whether the body changes nothing, so that nothing needs to be written. */
export function statesNothing(body: object): boolean {
  return Object.keys(body).length === 0
}

const TAKEN: Readonly<Record<string, string>> = {
  users_email_key: 'email: another user has this e-mail address',
  teams_key_key: 'key: another team has this key',
  service_accounts_key_key: 'key: another service account has this key',
}

export function createChanges(
  { sql }: Database,
  audit: () => AuditTrail,
  refresh: () => Promise<void>,
): MakeChange {
  return async ({ caller, requestId }, work) => {
    const trail = audit()
    let result: Awaited<ReturnType<typeof work>>
    try {
      result = (await sql.begin(async (tx) => {
        await lockIdentity(tx)
        return await work({
          sql: tx,
          audit: (entry) => trail.write(tx, { actor: caller, requestId, ...entry }),
        })
      })) as typeof result
    } catch (error) {
      const { code, constraint_name = '' } = error as { code?: string; constraint_name?: string }
      const message = TAKEN[constraint_name]
      if (code !== '23505' || message === undefined) throw error
      throw new GatewayError('conflict', message, { cause: error })
    }
    // Replicas are notified; if that fails here, the next poll within a second finds the change.
    await refresh().catch(() => {})
    return result
  }
}

/**
 * Every writer locks this row first, so that what it reads stays true while it writes. The triggers of
 * the tables lock the same row, but only at the write.
 */
export async function lockIdentity(tx: Transaction): Promise<void> {
  await tx`select from identity.revision for update`
}

type Table = keyof typeof FILE_FIELDS

/** Common queries for all objects that can be created and changed here. */
export interface RowStore<Row, Columns> {
  find(id: string, tx?: Transaction): Promise<Row | undefined>
  /** Creates a row that the config file cannot change. */
  insert(tx: Transaction, id: string, columns: Columns): Promise<void>
  /** `fields`: the fields that the config file cannot change any more. */
  update(tx: Transaction, id: string, columns: Columns, fields: readonly string[]): Promise<void>
}

export async function rowExists(tx: Transaction, table: Table, id: string): Promise<boolean> {
  const rows = await tx`select from ${tx(`identity.${table}`)} where id = ${id}`
  return rows.length > 0
}

/** Creates a row that the config file cannot change. */
export async function insertRow(tx: Transaction, table: Table, columns: object): Promise<void> {
  const row = { ...columns, admin_fields: [...FILE_FIELDS[table]] }
  await tx`insert into ${tx(`identity.${table}`)} ${tx(row)}`
}

/** `fields`: the fields that the config file cannot change any more. */
export async function updateRow(
  tx: Transaction,
  table: Table,
  id: string,
  columns: object,
  fields: readonly string[],
): Promise<void> {
  await tx`
    update ${tx(`identity.${table}`)} set ${tx({ ...columns, updated_at: new Date() })},
      admin_fields = array(select distinct unnest(admin_fields || ${[...fields]}::text[]))
    where id = ${id}`
}

/** The team of a user, who has at most one; null: none. */
export async function setTeam(
  tx: Transaction,
  userId: string,
  team: { readonly team_id: string; readonly role: 'owner' | 'admin' | 'member' } | null,
): Promise<void> {
  if (team === null) {
    await tx`delete from identity.team_memberships where user_id = ${userId}`
    return
  }
  await tx`
    insert into identity.team_memberships (user_id, team_id, role)
    values (${userId}, ${team.team_id}, ${team.role})
    on conflict (user_id) do update set team_id = excluded.team_id, role = excluded.role`
}

/** Also ends the sessions of the user. */
export async function setPassword(tx: Transaction, userId: string, hash: string): Promise<void> {
  await tx`
    insert into identity.user_passwords (user_id, hash) values (${userId}, ${hash})
    on conflict (user_id) do update set hash = excluded.hash, changed_at = now()`
  await endSessions(tx, userId)
}

export async function endSessions(tx: Transaction, userId: string): Promise<void> {
  await tx`delete from identity.user_sessions where user_id = ${userId}`
}

/** Whether a platform admin exists who can sign in. */
export async function adminExists(sql: Database['sql'] | Transaction): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from identity.users u join identity.user_passwords p on p.user_id = u.id
      where u.role = 'platform_admin' and u.status = 'active') as found`
  return row?.found === true
}

/**
 * All fields that the file could change; in a row that an administrator created, all belong to the
 * administrator.
 */
export const FILE_FIELDS = {
  users: ['name', 'role', 'request_logging_enabled', 'model_access', 'team'],
  teams: ['name', 'model_access'],
  service_accounts: ['name', 'team', 'model_access'],
  api_keys: ['name', 'grants', 'mcp_servers', 'secret'],
} as const
