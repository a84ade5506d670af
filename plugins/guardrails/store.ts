import type { Database, Static } from 'model-gateway/plugin'
import { arrayOf, type BatchRow } from '../_shared/batch-row.ts'
import { MOST_COUNTED } from '../_shared/counted-list.ts'
import { deleteInBatches } from '../_shared/delete-in-batches.ts'
import { firstId } from '../_shared/own-id.ts'
import type { Page, Rows } from '../_shared/page.ts'
import type { Period } from '../_shared/query.ts'
import type { DecisionItem } from './wire.ts'

const columns = [
  ['id', 'uuid'],
  ['occurred_at', 'timestamptz'],
  ['request_id', 'text'],
  ['mcp_invocation_id', 'text'],
  ['phase', 'text'],
  ['scope', 'text'],
  ['mode', 'text'],
  ['evaluator', 'text'],
  ['managed_service', 'text'],
  ['pack_id', 'text'],
  ['rule_id', 'text'],
  ['action', 'text'],
  ['reason_code', 'text'],
  ['latency_ms', 'double precision'],
  ['failure_disposition', 'text'],
  ['transformation', 'text'],
  ['content_sha256', 'text'],
  ['config_version', 'text'],
] as const
const names = columns.map(([name]) => name).join(', ')
const typed = columns.map((column) => column.join(' ')).join(', ')

/** A row as it was written. */
export type DecisionRow = Omit<Static<typeof DecisionItem>, 'decision_id' | 'occurred_at'> & {
  readonly id: string
  readonly occurred_at: Date
}

/** Columns that a list can be narrowed by. */
export const filterNames = ['request_id', 'phase', 'action', 'evaluator', 'scope'] as const

export interface DecisionFilter extends Period {
  readonly equal: Readonly<Partial<Record<(typeof filterNames)[number], string>>>
}

export interface Store {
  /** Does not change a decision that exists already. */
  write(rows: readonly BatchRow[]): Promise<void>
  /** Newest first. `total` is at most one more than the counting limit. */
  list(filter: DecisionFilter, page: Page): Promise<Rows<DecisionRow>>
  /** Deletes older decisions up to a limit; returns how many. */
  purge(before: Date): Promise<number>
}

export function createStore({ sql, schema }: Database): Store {
  const table = `"${schema}".guardrail_decisions`
  return {
    async write(rows) {
      const json = arrayOf(rows)
      await sql.unsafe(
        `insert into ${table} (${names})
          select ${names} from json_to_recordset($1::text::json) as d (${typed})
          on conflict do nothing`,
        [json],
        { prepare: true },
      )
    },
    async list(filter, { offset, page_size }) {
      const { where, values } = conditionOf(filter)
      return await sql.begin('read only', async (reader) => {
        await reader`select set_config('statement_timeout', '10s', true)`
        const [count] = await reader.unsafe<{ total: number }[]>(
          `select count(*)::int as total
            from (select 1 from ${table} where ${where} limit ${MOST_COUNTED + 1}) as counted`,
          values,
        )
        const rows = await reader.unsafe<DecisionRow[]>(
          `select ${names} from ${table} where ${where}
            order by id desc limit ${page_size} offset ${offset}`,
          values,
        )
        return { rows: [...rows], total: count?.total ?? 0 }
      })
    },
    async purge(before) {
      // skip locked, so that concurrent purges take different rows.
      return await deleteInBatches((most) =>
        sql.unsafe(
          `delete from ${table} where id in (
            select id from ${table} where id < $1 order by id
            limit ${most} for update skip locked)`,
          [firstId(before)],
        ),
      )
    },
  }
}

function conditionOf({ equal, start, end }: DecisionFilter) {
  const values: string[] = []
  const conditions = ['true']
  const add = (condition: string, value: string) =>
    conditions.push(`${condition} $${values.push(value)}`)
  for (const name of filterNames) {
    const value = equal[name]
    if (value !== undefined) add(`${name} =`, value)
  }
  if (start !== undefined) add('id >=', firstId(start))
  if (end !== undefined) add('id <', firstId(end))
  return { where: conditions.join(' and '), values }
}
