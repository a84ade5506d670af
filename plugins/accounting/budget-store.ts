import type { AuditTrail } from 'model-gateway/admin'
import type { Database } from 'model-gateway/plugin'
import type { Budget, BudgetEntry, BudgetSource } from './budget.ts'
import type { WindowUse } from './pace.ts'
import type { BudgetScope } from './scopes.ts'
import { type BudgetArray, budgetArray, budgetRow, budgetWindow, readBudget } from './tables.ts'
import { startOfDay, type UtcDay, type Window } from './window.ts'

/** A budget with the spend of its current window. */
export type WindowedBudget = Budget & {
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Absent in a tombstone that never had settings. */
  readonly window: WindowUse | undefined
}

export interface BudgetFilter {
  readonly active?: boolean
  readonly scopeKind?: BudgetScope['kind']
  readonly source?: BudgetSource
  readonly userId?: string
  readonly serviceAccountId?: string
  readonly modelId?: string
  readonly scopeKey?: string
  readonly budgetId?: string
}

/** Spend of a scope on one day, in pico-USD. */
export interface SpentDay {
  readonly day: UtcDay
  readonly spent: bigint
  readonly rejected: bigint
}

/** The open transaction of a change. */
export type Transaction = Parameters<AuditTrail['write']>[0]

export interface BudgetStore {
  /**
   * Writes the entries that `plan` derives from all budgets, under a lock on budget changes. An
   * entry replaces the one of its scope.
   */
  changeAll(plan: (existing: readonly Budget[]) => readonly BudgetEntry[]): Promise<void>
  /**
   * Writes the entry that `plan` derives from the one of a scope, and what `also` writes, in one
   * transaction. If the entry does not change, `also` is not called.
   */
  change(
    scopeKey: string,
    plan: (existing: Budget | undefined) => BudgetEntry,
    also: (transaction: Transaction, before: Budget | undefined, after: Budget) => Promise<void>,
  ): Promise<void>
  /**
   * Writes the first budget of an owner that the same transaction creates, so no lock is needed.
   */
  insert(transaction: Transaction, scopeKey: string, entry: BudgetEntry): Promise<Budget>
  /** Ordered by scope key; windows are those of `today`. */
  list(
    filter: BudgetFilter,
    page: { readonly limit: number; readonly offset: number },
    today: UtcDay,
  ): Promise<{ readonly budgets: readonly WindowedBudget[]; readonly total: number }>
  /** In order, without days that have no spend. */
  days(scopeKey: string, window: Window): Promise<readonly SpentDay[]>
}

const BUDGETS_LOCK = 'accounting.budgets'

const readSql = (schema: string, where = '') =>
  `select json_agg(${budgetArray}) as budgets from "${schema}".budgets ${where}`

const writeSql = (schema: string) => `
  insert into "${schema}".budgets as budget (budget_id, scope_key, scope_kind, user_id,
    service_account_id, model_id, upstream_model, budget_source, active, cadence, amount_pico_usd,
    hard_limit, unpriced, timezone)
  select * from json_to_recordset($1::text::json) as b (budget_id uuid, scope_key text,
    scope_kind text, user_id text, service_account_id text, model_id text, upstream_model text,
    budget_source text, active boolean, cadence text, amount_pico_usd numeric, hard_limit boolean,
    unpriced text, timezone text)
  order by scope_key
  on conflict (scope_key) do update set budget_source = excluded.budget_source,
    active = excluded.active, cadence = excluded.cadence,
    amount_pico_usd = excluded.amount_pico_usd, hard_limit = excluded.hard_limit,
    unpriced = excluded.unpriced, timezone = excluded.timezone`

const filterSql = `($1::boolean is null or active = $1) and ($2::text is null or scope_kind = $2)
  and ($3::text is null or budget_source = $3) and ($4::text is null or user_id = $4)
  and ($5::text is null or service_account_id = $5) and ($6::text is null or model_id = $6)
  and ($7::text is null or scope_key = $7) and ($8::uuid is null or budget_id = $8)`

const listSql = (schema: string) => `
  select ${budgetArray} as budget, created_at, updated_at, (window_start - date '1970-01-01') as start,
    (window_end - date '1970-01-01') as "end", spent::text, rejected::text, recent_spent::text, recent_rejected::text
  from (
    select * from "${schema}".budgets where ${filterSql} order by scope_key limit $10 offset $11
  ) as b ${budgetWindow(schema, '$9::timestamp')}
  order by scope_key`

interface ListedRow {
  readonly budget: BudgetArray
  readonly created_at: Date
  readonly updated_at: Date
  readonly start: number | null
  readonly end: number | null
  readonly spent: string
  readonly rejected: string
  readonly recent_spent: string
  readonly recent_rejected: string
}

export function createBudgetStore({ sql, schema }: Database): BudgetStore {
  async function write(tx: Transaction, entries: readonly BudgetEntry[]): Promise<void> {
    if (entries.length === 0) return
    await tx.unsafe(writeSql(schema), [JSON.stringify(entries.map(budgetRow))])
  }

  async function read(tx: Transaction, where?: string, parameters: string[] = []) {
    const [row] = await tx.unsafe<{ budgets: BudgetArray[] | null }[]>(
      readSql(schema, where),
      parameters,
    )
    return (row?.budgets ?? []).map(readBudget)
  }

  /** Serialises changes of budgets. */
  async function inTurn(work: (tx: Transaction) => Promise<void>): Promise<void> {
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtext(${BUDGETS_LOCK}))`
      await work(tx)
    })
  }

  async function replace(
    tx: Transaction,
    scopeKey: string,
    plan: (existing: Budget | undefined) => BudgetEntry,
  ) {
    const find = () => read(tx, 'where scope_key = $1', [scopeKey])
    const [before] = await find()
    await write(tx, [plan(before)])
    const [after] = await find()
    if (after === undefined) throw new Error(`the budget of ${scopeKey} was not written`)
    return { before, after }
  }

  return {
    changeAll: (plan) => inTurn(async (tx) => write(tx, plan(await read(tx)))),
    change: (scopeKey, plan, also) =>
      inTurn(async (tx) => {
        const { before, after } = await replace(tx, scopeKey, plan)
        if (!Bun.deepEquals(before, after)) await also(tx, before, after)
      }),
    insert: async (tx, scopeKey, entry) => (await replace(tx, scopeKey, () => entry)).after,
    async list(filter, { limit, offset }, today) {
      const { active, scopeKind, source, userId, serviceAccountId, modelId } = filter
      const owners = [userId, serviceAccountId, modelId]
      const parameters = [active, scopeKind, source, ...owners, filter.scopeKey, filter.budgetId]
      const values = parameters.map((value) => value ?? null)
      const [count] = await sql.unsafe<{ total: number }[]>(
        `select count(*)::int as total from "${schema}".budgets where ${filterSql}`,
        values,
      )
      const rows = await sql.unsafe<ListedRow[]>(listSql(schema), [
        ...values,
        startOfDay(today).toISOString(),
        limit,
        offset,
      ])
      return { budgets: rows.map(windowed), total: count?.total ?? 0 }
    },
    async days(scopeKey, { start, end }) {
      const rows = await sql<{ day: number; spent: string; rejected: string }[]>`
        select utc_day - date '1970-01-01' as day, spent::text, rejected::text
        from ${sql(schema)}.spend_counters where scope_key = ${scopeKey}
          and utc_day >= ${startOfDay(start)}::date and utc_day < ${startOfDay(end)}::date
        order by utc_day`
      return rows.map(({ day, spent, rejected }) => ({
        day,
        spent: BigInt(spent),
        rejected: BigInt(rejected),
      }))
    },
  }
}

function windowed(row: ListedRow): WindowedBudget {
  const { start, end } = row
  const window =
    start === null || end === null
      ? undefined
      : {
          start,
          end,
          spent: BigInt(row.spent),
          rejected: BigInt(row.rejected),
          recent: { spent: BigInt(row.recent_spent), rejected: BigInt(row.recent_rejected) },
        }
  const budget = readBudget(row.budget)
  return { ...budget, createdAt: row.created_at, updatedAt: row.updated_at, window }
}
