import { families } from 'model-gateway/plugin'
import { type Reader, requestLog } from '../_shared/store.ts'
import type { Filter } from './filter.ts'

/** A way to matching rows, which it has under the names `b.occurred_at` and `b.id`. */
export interface Way {
  readonly values: Values
  readonly from: string
  readonly where: string
  /** What their outcome is called. */
  readonly outcome: string
}

export const newestFirst = 'order by b.occurred_at desc, b.id desc'
const summaries = `"${requestLog}".request_logs`
const tags = `"${requestLog}".request_log_tags`

/** Values of a statement, each with its number. */
function createValues() {
  const values: (string | number)[] = []
  return {
    values,
    put(value: string | number, type: string): string {
      values.push(value)
      return `$${values.length}::${type}`
    },
  }
}
type Values = ReturnType<typeof createValues>

type Column = Filter['columns'][number]

function equals([name, value]: Column, { put }: Values): string {
  return `${name} = ${put(value, name === 'status_code' ? 'integer' : 'text')}`
}

/** Reads rows through, newest first; `needs` says whether it takes the summaries. */
export function walkOf(filter: Filter, since: Date, needs: 'place' | 'summary'): Way {
  const values = createValues()
  const { put } = values
  const { tag } = filter
  const byTag = tag !== undefined && filter.columns.length === 0 && needs === 'place'
  const from = byTag
    ? `(select occurred_at, request_log_id as id, key, value from ${tags}) b`
    : `${summaries} b`
  const conditions = [timeOf(filter, since, values)]
  for (const column of filter.columns) conditions.push(`b.${equals(column, values)}`)
  if (tag !== undefined) {
    const row = byTag ? 'b' : 't'
    const [key, value] = tag
    const same = `${row}.key = ${put(key, 'text')} and ${row}.value = ${put(value, 'text')}`
    conditions.push(
      byTag
        ? same
        : `exists (select from ${tags} t
            where t.occurred_at = b.occurred_at and t.request_log_id = b.id and ${same})`,
    )
  }
  return { values, from, where: conditions.join(' and '), outcome: 'b.outcome' }
}

/** As a condition on `b.occurred_at`. */
function timeOf({ end }: Filter, since: Date, { put }: Values): string {
  const from = `b.occurred_at >= ${put(since.toISOString(), 'timestamptz')}`
  return end === undefined
    ? from
    : `${from} and b.occurred_at < ${put(end.toISOString(), 'timestamptz')}`
}

/**
 * Intersects what the indexes have of each value, and reads no rows. Everything is in order there,
 * newest first. The two values that most rows have are in no index, but the rows that have others
 * are, and are taken away.
 */
export function setsOf(filter: Filter, since: Date): Way {
  const values = createValues()
  const { put } = values
  const time = timeOf(filter, since, values)
  const set = (condition = 'true') =>
    `(select b.occurred_at, b.id from ${summaries} b where ${time} and ${condition})`
  const sets: string[] = []
  const others: string[] = []
  for (const column of filter.columns) {
    const [name, value] = column
    if (name === 'status_code' && value === 200) {
      others.push(set('status_code <> 200'))
    } else if (name === 'operation' && value === 'chat_completions') {
      for (const family of families) {
        if (family !== value) others.push(set(equals([name, family], values)))
      }
    } else {
      sets.push(set(equals(column, values)))
    }
  }
  if (filter.tag !== undefined) {
    const [key, value] = filter.tag
    sets.push(`(select b.occurred_at, b.request_log_id as id from ${tags} b
      where ${time} and key = ${put(key, 'text')} and value = ${put(value, 'text')})`)
  }
  const [first = set(), ...more] = sets
  const joins = more.map((each, n) => `join ${each} s${n} using (occurred_at, id)`)
  const without = others.map(
    (each) => `not exists (
      select from ${each} o where o.occurred_at = b.occurred_at and o.id = b.id)`,
  )
  return {
    values,
    from: `${first} b ${joins.join(' ')}`,
    where: ['true', ...without].join(' and '),
    outcome: `(select outcome from ${summaries} r
      where r.occurred_at = b.occurred_at and r.id = b.id)`,
  }
}

/**
 * Looks for what `setsOf` is about. Postgres believes that values come together by chance, and would
 * look up a row for each entry of a set; merging sets is never slow. Their order is that of the
 * filter, which saves planning.
 */
export async function bySets<T>(reader: Reader, look: (reader: Reader) => Promise<T>): Promise<T> {
  const plan = (lookUps: 'on' | 'off', orders: 1 | 8) =>
    reader.unsafe(`select set_config('enable_nestloop', '${lookUps}', true),
      set_config('join_collapse_limit', '${orders}', true)`)
  await plan('off', 1)
  const found = await look(reader)
  await plan('on', 8)
  return found
}
