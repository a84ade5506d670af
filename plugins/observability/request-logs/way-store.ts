import { type Reader, requestLog } from '../_shared/store.ts'
import type { Filter } from './filter.ts'

/** SQL for matching rows with the columns `b.occurred_at` and `b.id`. */
export interface Way {
  readonly values: Values
  readonly from: string
  readonly where: string
  /** Whether a request failed, if needed. */
  readonly failed: string
}

export const newestFirst = 'order by b.occurred_at desc, b.id desc'
const summaries = `"${requestLog}".request_logs`
const tags = `"${requestLog}".request_log_tags`
/** A failed request that the caller did not abort. */
export const failedSql = "outcome not in ('success', 'client_abort')"

/** The parameters of a statement, each with its number. */
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

/** The key of a match, or also whether it failed. */
type Needs = 'place' | 'outcome'

/** Scans rows, newest first. */
export function walkOf(filter: Filter, since: Date, needs: Needs): Way {
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
  return { values, from, where: conditions.join(' and '), failed: `b.${failedSql}` }
}

/** The range as a condition on `b.occurred_at`. */
function timeOf({ end }: Filter, since: Date, { put }: Values): string {
  const from = `b.occurred_at >= ${put(since.toISOString(), 'timestamptz')}`
  return end === undefined
    ? from
    : `${from} and b.occurred_at < ${put(end.toISOString(), 'timestamptz')}`
}

function isUnindexed([name, value]: Column): boolean {
  return (
    (name === 'status_code' && value === 200) ||
    (name === 'outcome' && value === 'success') ||
    (name === 'operation' && value === 'chat_completions')
  )
}

/**
 * Intersects the index entries of each value without reading rows, all newest first. The most
 * frequent values are not indexed; instead the rows with other values are indexed, and are
 * subtracted.
 */
export function setsOf(filter: Filter, since: Date, needs: Needs): Way {
  const values = createValues()
  const { put } = values
  const time = timeOf(filter, since, values)
  const rows = (condition: string) =>
    `select b.occurred_at, b.id from ${summaries} b where ${time} and ${condition}`
  const set = (condition = 'true') => `(${rows(condition)})`
  // The explicit order avoids a sort, because Postgres can read the index backwards.
  const inOrder = (condition: string) => `(${rows(condition)} ${newestFirst} offset 0)`
  const sets: string[] = []
  const others: string[] = []
  for (const column of filter.columns) {
    if (!isUnindexed(column)) sets.push(set(equals(column, values)))
    else if (column[0] === 'status_code') others.push(inOrder('status_code <> 200'))
    else if (column[0] === 'outcome') others.push(inOrder("outcome <> 'success'"))
    else {
      // Each index is read in order; other operations, from plugins, are rare.
      const usual = ['responses', 'embeddings', 'messages.count_tokens']
      for (const operation of usual) others.push(inOrder(equals([column[0], operation], values)))
      const known = ['chat_completions', ...usual].map((operation) => `'${operation}'`).join(', ')
      others.push(inOrder(`operation not in (${known})`))
    }
  }
  if (filter.tag !== undefined) {
    const [key, value] = filter.tag
    sets.push(`(select b.occurred_at, b.request_log_id as id from ${tags} b
      where ${time} and key = ${put(key, 'text')} and value = ${put(value, 'text')})`)
  }
  const [first = set(), ...more] = sets
  const joins = more.map((each, n) => `join ${each} s${n} using (occurred_at, id)`)
  if (needs === 'outcome') {
    const failures = inOrder(failedSql)
    joins.push(`left join ${failures} f on f.occurred_at = b.occurred_at and f.id = b.id`)
  }
  const without = others.map(
    (each) => `not exists (
      select from ${each} o where o.occurred_at = b.occurred_at and o.id = b.id)`,
  )
  return {
    values,
    from: `${first} b ${joins.join(' ')}`,
    where: ['true', ...without].join(' and '),
    failed: 'f.id is not null',
  }
}

/**
 * Whether Postgres plans the query of `setsOf` well: it knows the frequency of two indexed values.
 */
export function isPlain({ columns, tag }: Filter): boolean {
  return tag === undefined && columns.length === 2 && !columns.some(isUnindexed)
}

/**
 * Runs the query of `setsOf` with forced merge joins. Postgres assumes that values are independent,
 * and would look up a row for each entry of a set; merging sets is never slow. Whole sets are
 * merged, because planning per partition takes longer than it saves.
 */
export async function byMerging<T>(
  reader: Reader,
  look: (reader: Reader) => Promise<T>,
): Promise<T> {
  const choose = (plans: 'on' | 'off') =>
    reader.unsafe(`select set_config('enable_nestloop', '${plans}', true),
      set_config('enable_partitionwise_join', '${plans}', true)`)
  await choose('off')
  const found = await look(reader)
  await choose('on')
  return found
}
