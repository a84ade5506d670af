import type { AuditTrail, SessionCaller } from 'model-gateway/admin'
import type { Database } from 'model-gateway/plugin'

export type Status = 'open' | 'granted' | 'refused'

export interface ModelRequest {
  readonly request_id: string
  readonly user_id: string
  readonly email: string
  readonly model: string
  readonly reason: string
  readonly status: Status
  readonly note: string | null
  readonly decided_by: string | null
  /** RFC 3339, UTC. */
  readonly created_at: string
  readonly decided_at: string | null
}

interface Row extends Omit<ModelRequest, 'created_at' | 'decided_at'> {
  readonly created_at: Date
  readonly decided_at: Date | null
}

export interface Decision {
  readonly status: 'granted' | 'refused'
  readonly note: string
}

export interface Page {
  readonly offset: number
  readonly page_size: number
}

/** The requester, as stored. */
export interface Asker {
  readonly userId: string
  readonly email: string
}

const UNIQUE_VIOLATION = '23505'

export type Store = ReturnType<typeof createStore>

/** The requests. Queries name the schema, because the whole gateway shares the pool. */
export function createStore({ sql, schema }: Database, audit: () => AuditTrail) {
  const requests = sql`${sql(schema)}.requests`

  async function page(where: ReturnType<typeof sql>, { offset, page_size }: Page) {
    const rows = await sql<Row[]>`
      select * from ${requests} where ${where}
      order by created_at desc, request_id offset ${offset} limit ${page_size}`
    const [count] = await sql<{ total: number }[]>`
      select count(*)::int as total from ${requests} where ${where}`
    return { items: rows.map(shown), total: count?.total ?? 0 }
  }

  return {
    /** Newest first; with one status, or all. */
    list: (status: Status | undefined, at: Page) =>
      page(status === undefined ? sql`true` : sql`status = ${status}`, at),

    ofUser: (userId: string, at: Page) => page(sql`user_id = ${userId}`, at),

    /** `undefined` when the user already has an open request for the model. */
    async add(asker: Asker, model: string, reason: string): Promise<ModelRequest | undefined> {
      try {
        const [row] = await sql<Row[]>`
          insert into ${requests} (user_id, email, model, reason)
          values (${asker.userId}, ${asker.email}, ${model}, ${reason}) returning *`
        return shown(row as Row)
      } catch (error) {
        // The unique index prevents duplicates; a query beforehand would leave a race.
        if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return undefined
        throw error
      }
    },

    /** Withdraws an open request of this user; false when none has this id. */
    async withdraw(userId: string, requestId: string): Promise<boolean> {
      const { count } = await sql`
        delete from ${requests}
        where request_id = ${requestId} and user_id = ${userId} and status = 'open'`
      return count > 0
    },

    /**
     * Decides an open request. The audit entry is written in the same transaction, so that neither
     * exists without the other. The first decision wins: later ones return `decided`.
     */
    async decide(
      requestId: string,
      { status, note }: Decision,
      by: { readonly actor: SessionCaller; readonly requestId: string },
    ): Promise<ModelRequest | 'absent' | 'decided'> {
      return await sql.begin(async (tx) => {
        const [before] = await tx<Row[]>`
          select * from ${requests} where request_id = ${requestId} for update`
        if (before === undefined) return 'absent'
        if (before.status !== 'open') return 'decided'
        const [after] = await tx<Row[]>`
          update ${requests} set status = ${status}, note = ${note},
            decided_by = ${by.actor.email}, decided_at = now()
          where request_id = ${requestId} returning *`
        await audit().write(tx, {
          actor: by.actor,
          requestId: by.requestId,
          action: 'model_request.decide',
          objectKind: 'model_request',
          objectId: requestId,
          before: { status: before.status },
          after: { status, note, model: before.model, email: before.email },
        })
        return shown(after as Row)
      })
    },
  }
}

function shown({ created_at, decided_at, ...row }: Row): ModelRequest {
  return {
    ...row,
    created_at: created_at.toISOString(),
    decided_at: decided_at?.toISOString() ?? null,
  }
}
