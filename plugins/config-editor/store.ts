import type { AuditTrail, SessionCaller } from 'model-gateway/admin'
import type { Database, JsonValue } from 'model-gateway/plugin'

/** Changes of a file that can be undone. */
const KEPT = 50

/** Whose change it is. */
export interface By {
  readonly caller: SessionCaller
  readonly requestId: string
}

export interface Revision {
  readonly revision_id: string
  /** Null: the file did not exist. */
  readonly before_text: string | null
  readonly after_text: string | null
  /** `provider.add`, `model.remove` */
  readonly action: string
  readonly object_id: string
  readonly actor_email: string
  readonly created_at: Date
}

export interface Change {
  readonly action: string
  readonly objectId: string
  readonly before: string | undefined
  readonly after: string | undefined
  /** Of the entry, for the audit log. */
  readonly entry: { readonly before?: JsonValue; readonly after?: JsonValue }
}

export interface Store {
  /** The last change of a file that has not been undone. */
  last(file: string): Promise<Revision | undefined>
  /** Keeps a change with its audit entry. */
  add(file: string, change: Change, by: By): Promise<void>
  /** Deletes an undone change and writes the audit entry of the undo. */
  undo(revision: Revision, by: By): Promise<void>
  /** All texts that can come back. */
  texts(file: string): Promise<readonly string[]>
}

export function createStore({ sql, schema }: Database, audit: () => AuditTrail): Store {
  const revisions = sql`${sql(schema)}.revisions`

  function entryOf(action: string, objectId: string, { caller, requestId }: By) {
    const [objectKind = ''] = action.split('.')
    return { actor: caller, requestId, action: `config.${action}`, objectKind, objectId }
  }

  return {
    async last(file) {
      const [row] = await sql<Revision[]>`
        select * from ${revisions} where file = ${file} order by revision_id desc limit 1`
      return row
    },
    async add(file, { action, objectId, before, after, entry }, by) {
      await sql.begin(async (tx) => {
        await tx`
          insert into ${revisions} (file, before_text, after_text, action, object_id, actor_email)
          values (${file}, ${before ?? null}, ${after ?? null}, ${action}, ${objectId},
            ${by.caller.email})`
        await tx`
          delete from ${revisions} where file = ${file} and revision_id not in (
            select revision_id from ${revisions} where file = ${file}
            order by revision_id desc limit ${KEPT})`
        await audit().write(tx, { ...entryOf(action, objectId, by), ...entry })
      })
    },
    async undo({ revision_id, action, object_id }, by) {
      await sql.begin(async (tx) => {
        await tx`delete from ${revisions} where revision_id = ${revision_id}`
        await audit().write(tx, {
          ...entryOf(action, object_id, by),
          action: 'config.undo',
          before: { change: action },
        })
      })
    },
    async texts(file) {
      const rows = await sql<Pick<Revision, 'before_text' | 'after_text'>[]>`
        select before_text, after_text from ${revisions} where file = ${file}`
      return rows
        .flatMap((row) => [row.before_text, row.after_text])
        .filter((text) => text !== null)
    },
  }
}
