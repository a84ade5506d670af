import type { Database } from 'model-gateway/plugin'
import { deleteInBatches } from '../_shared/delete-in-batches.ts'

export interface Store {
  find(key: string): Promise<string | undefined>
  /** Existing rows do not change. */
  write(places: ReadonlyMap<string, string>): Promise<void>
  purge(before: Date): Promise<unknown>
}

export function createStore({ sql, schema }: Database): Store {
  const table = sql(`${schema}.places`)
  return {
    async find(key) {
      const [row] = await sql<{ place: string }[]>`select place from ${table} where key = ${key}`
      return row?.place
    },
    async write(places) {
      await sql`
        insert into ${table} (key, place)
        select * from unnest(${[...places.keys()]}::text[], ${[...places.values()]}::text[])
        on conflict (key) do nothing`
    },
    purge: (before) =>
      deleteInBatches(
        (most) => sql`
          delete from ${table} where key in
            (select key from ${table} where noted_at < ${before} limit ${most})`,
      ),
  }
}
