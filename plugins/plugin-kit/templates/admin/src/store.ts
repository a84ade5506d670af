import type { Database } from 'model-gateway/plugin'

export interface Note {
  readonly note_id: string
  readonly author: string
  readonly text: string
  readonly created_at: string
}

interface Row extends Omit<Note, 'created_at'> {
  readonly created_at: Date
}

/** The notes. Queries name the schema, because the whole gateway shares the connection pool. */
export function createStore({ sql, schema }: Database) {
  const notes = sql`${sql(schema)}.notes`
  const noteOf = ({ created_at, ...row }: Row): Note => ({
    ...row,
    created_at: created_at.toISOString(),
  })

  return {
    async add(author: string, text: string): Promise<Note> {
      const [row] = await sql<Row[]>`
        insert into ${notes} (author, text) values (${author}, ${text})
        returning note_id, author, text, created_at`
      return noteOf(row as Row)
    },

    /** Newest first. */
    async list(offset: number, limit: number): Promise<{ items: Note[]; total: number }> {
      const rows = await sql<Row[]>`
        select note_id, author, text, created_at from ${notes}
        order by created_at desc, note_id offset ${offset} limit ${limit}`
      const [count] = await sql<{ total: number }[]>`select count(*)::int as total from ${notes}`
      return { items: rows.map(noteOf), total: count?.total ?? 0 }
    },

    async remove(noteId: string): Promise<boolean> {
      const { count } = await sql`delete from ${notes} where note_id = ${noteId}`
      return count > 0
    },
  }
}

export type Store = ReturnType<typeof createStore>
