import type { SessionCaller } from 'model-gateway/admin'
import type { Database } from 'model-gateway/plugin'
import { adminExists, lockIdentity, setPassword, type Transaction } from '../_shared/store.ts'

/** Notification channel for unlocked accounts; the payload is the hash of the e-mail. */
export const UNLOCKED = 'identity_unlocked'

/** Current role, status and password hash of a user. */
export interface Account {
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly role: SessionCaller['role']
  readonly status: 'active' | 'invited' | 'disabled'
  readonly hash: string | null
}

export interface Session {
  readonly lastUsedAt: Date
  readonly caller: SessionCaller
}

/** The earliest creation and last use of a valid session. */
export interface Liveness {
  readonly createdAfter: Date
  readonly usedAfter: Date
}

export interface SessionStore {
  findAccount(email: string): Promise<Account | undefined>
  /** The session of an active user, unless it has ended. */
  find(tokenHash: string, live: Liveness): Promise<Session | undefined>
  createdAt(id: string): Promise<Date | undefined>
  touch(id: string, at: Date): Promise<void>
  /** The first sign-in of an invited user makes the user active. */
  activate(userId: string): Promise<void>
  /**
   * Creates a session, unless the user is no longer active or has a new password since the
   * comparison.
   */
  create(session: {
    readonly id: string
    readonly tokenHash: string
    readonly userId: string
    readonly passwordHash: string
    readonly at: Date
  }): Promise<void>
  remove(id: string): Promise<void>
  sweep(live: Liveness): Promise<void>
  /**
   * Sets a password and ends every session of the user, in one transaction with `also`. Resolves to
   * false without a change if the password is no longer `before`.
   */
  changePassword(
    userId: string,
    hashes: { readonly before: string; readonly after: string },
    also: (sql: Transaction) => Promise<void>,
  ): Promise<boolean>
  /** Notifies all replicas. Resolves to false if no user has this email address. */
  unlock(
    email: string,
    account: string,
    also: (sql: Transaction, userId: string) => Promise<void>,
  ): Promise<boolean>
  /** Whether a platform admin exists who can sign in. */
  hasAdmin(): Promise<boolean>
  /**
   * Makes the user with this e-mail a platform admin with this password, unless the condition
   * `unless` is true. Resolves to the outcome.
   */
  makeAdmin(admin: {
    readonly email: string
    readonly name: string
    readonly hash: string
    readonly unless: 'there is an admin' | 'never'
    /** The fields of a new user that the config file cannot change. */
    readonly fields: readonly string[]
    /** Written with it. */
    readonly also: (sql: Transaction, userId: string) => Promise<void>
  }): Promise<'made' | 'there is an admin' | 'disabled'>
}

export function createSessionStore({ sql }: Database): SessionStore {
  return {
    async findAccount(email) {
      const [account] = await sql<Account[]>`
        select u.id as "userId", u.email, u.name, u.role, u.status, p.hash
        from identity.users u left join identity.user_passwords p on p.user_id = u.id
        where u.email = ${email}`
      return account
    },
    async find(tokenHash, { createdAfter, usedAfter }) {
      const [row] = await sql<(Omit<SessionCaller, 'kind'> & { lastUsedAt: Date })[]>`
        select s.id as "sessionId", s.last_used_at as "lastUsedAt",
          u.id as "userId", u.email, u.name, u.role
        from identity.user_sessions s join identity.users u on u.id = s.user_id
        where s.token_hash = ${tokenHash} and u.status = 'active'
          and s.created_at > ${createdAfter} and s.last_used_at > ${usedAfter}`
      if (row === undefined) return undefined
      const { lastUsedAt, ...caller } = row
      return { lastUsedAt, caller: { kind: 'session', ...caller } }
    },
    async createdAt(id) {
      const [row] = await sql<{ at: Date }[]>`
        select created_at as at from identity.user_sessions where id = ${id}`
      return row?.at
    },
    async touch(id, at) {
      await sql`
        update identity.user_sessions set last_used_at = ${at}
        where id = ${id} and last_used_at < ${at}`
    },
    async activate(userId) {
      await sql`
        update identity.users set status = 'active', updated_at = now()
        where id = ${userId} and status = 'invited'`
    },
    async create({ id, tokenHash, userId, passwordHash, at }) {
      // for share, because a concurrent change of the user would not end a session that it does not
      // see.
      await sql`
        insert into identity.user_sessions (id, token_hash, user_id, created_at, last_used_at)
        select ${id}, ${tokenHash}, u.id, ${at}, ${at}
        from identity.users u join identity.user_passwords p on p.user_id = u.id
        where u.id = ${userId} and u.status = 'active' and p.hash = ${passwordHash}
        for share`
    },
    async remove(id) {
      await sql`delete from identity.user_sessions where id = ${id}`
    },
    async sweep({ createdAfter, usedAfter }) {
      await sql`
        delete from identity.user_sessions
        where created_at <= ${createdAfter} or last_used_at <= ${usedAfter}`
    },
    async changePassword(userId, { before, after }, also) {
      return await sql.begin(async (tx) => {
        await lockIdentity(tx)
        const found = await tx`
          select from identity.user_passwords where user_id = ${userId} and hash = ${before}`
        if (found.length === 0) return false
        await setPassword(tx, userId, after)
        await also(tx)
        return true
      })
    },
    async unlock(email, account, also) {
      return await sql.begin(async (tx) => {
        const [user] = await tx<{ id: string }[]>`
          select id from identity.users where email = ${email}`
        if (user === undefined) return false
        await also(tx, user.id)
        await tx`select pg_notify(${UNLOCKED}, ${account})`
        return true
      })
    },
    async hasAdmin() {
      return await adminExists(sql)
    },
    async makeAdmin({ email, name, hash, unless, fields, also }) {
      return await sql.begin(async (tx) => {
        await lockIdentity(tx)
        if (unless === 'there is an admin' && (await adminExists(tx))) return unless
        const [user] = await tx<{ id: string; status: Account['status'] }[]>`
          select id, status from identity.users where email = ${email}`
        if (user?.status === 'disabled') return 'disabled'
        const id = user?.id ?? Bun.randomUUIDv7()
        await tx`
          insert into identity.users (id, name, email, role, admin_fields)
          values (${id}, ${name}, ${email}, 'platform_admin', ${[...fields]})
          on conflict (id) do update set role = 'platform_admin', status = 'active',
            admin_fields = array(select distinct unnest(users.admin_fields || '{role}'::text[])),
            updated_at = now()`
        await setPassword(tx, id, hash)
        await also(tx, id)
        return 'made'
      })
    },
  }
}
