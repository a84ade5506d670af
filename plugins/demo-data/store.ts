import type { Database } from 'model-gateway/plugin'
import type { Sql, TransactionSql } from 'postgres'
import { columnNames } from '../_shared/batch-row.ts'
import type { Books } from './books.ts'
import { type Copy, createCopy } from './copy.ts'
import { attemptHead, ledgerHead, logHead } from './lanes.ts'
import { attemptColumns, childColumns, type Lines, ledgerColumns, logColumns } from './traffic.ts'

/** Tables of other plugins, by the plain SQL of their schemas. */

const DAY_MS = 86_400_000

export interface Store {
  /** Opens the UTC day that starts at `day`. Two days can be open at the same time. */
  openDay(day: number): Promise<Day>
  /** Updates the statistics of the query planner. */
  analyse(): Promise<void>
}

/** The rows of one day, written with their sums in one transaction. */
export interface Day {
  /** Writes buffered lines. */
  write(lines: Lines): Promise<void>
  close(books: Books): Promise<void>
  cancel(): Promise<void>
}

const loaded = [
  'request_logs',
  'request_log_attempts',
  'request_log_tags',
  'request_log_payloads',
] as const
type Loaded = (typeof loaded)[number]
const columnsOf = {
  request_logs: [...logHead, ...logColumns],
  request_log_attempts: [...attemptHead, ...childColumns, ...attemptColumns],
  request_log_tags: [...childColumns, 'key', 'value'],
  request_log_payloads: [...childColumns, 'request_json', 'response_json'],
}

export function createStore({ sql }: Database): Store {
  return {
    async openDay(day) {
      const open: Transaction[] = []
      const begin = async () => {
        const transaction = await beginTransaction(sql)
        open.push(transaction)
        return transaction
      }
      const copies: Copy[] = []
      const copied = async (copy: Promise<Copy>) => {
        copies.push(await copy)
        return await copy
      }
      const cancel = async () => {
        for (const copy of copies) copy.cancel()
        for (const transaction of open) await transaction.rollback()
      }
      const load = (tx: TransactionSql, table: Loaded) =>
        copyInto(tx, loadName(table, day), columnsOf[table], 'with (freeze)')

      try {
        const ledger = await begin()
        const summaries = await begin()
        const children = await begin()
        for (const table of loaded) {
          const { sql: tx } = table === 'request_logs' ? summaries : children
          await createLoadTable(tx, table, day)
        }
        const ledgerCopy = await copied(
          copyInto(ledger.sql, 'accounting.usage_cost_events', [...ledgerHead, ...ledgerColumns]),
        )
        const logCopy = await copied(load(summaries.sql, 'request_logs'))
        const attemptCopy = await copied(load(children.sql, 'request_log_attempts'))
        // A connection can copy into only one table at a time, so the smaller tables wait.
        const later = { rejected: [] as string[], tags: [] as string[], payloads: [] as string[] }

        return {
          async write(lines) {
            later.rejected.push(lines.rejected)
            later.tags.push(lines.tags)
            later.payloads.push(lines.payloads)
            await ledgerCopy.write(lines.ledger)
            await logCopy.write(lines.logs)
            await attemptCopy.write(lines.attempts)
          },
          async close(books) {
            await Promise.all([ledgerCopy.end(), logCopy.end(), attemptCopy.end()])
            for (const [table, lines] of [
              ['request_log_tags', later.tags],
              ['request_log_payloads', later.payloads],
            ] as const) {
              await copyAll(await load(children.sql, table), lines)
            }
            await addToBooks(ledger.sql, books, day)
            const columns = [...ledgerHead, ...ledgerColumns, 'reason']
            const charges = 'accounting.budget_rejected_charges'
            await copyAll(await copyInto(ledger.sql, charges, columns), later.rejected)
            await children.commit()
            await summaries.sql`
              select pg_advisory_xact_lock(hashtextextended('request_log partitions', 0))`
            for (const table of loaded) await placeRows(summaries.sql, table, day)
            await addHarnesses(summaries.sql, books)
            await summaries.commit()
            await ledger.commit()
          },
          cancel,
        }
      } catch (error) {
        await cancel()
        throw error
      }
    },

    async analyse() {
      await sql.begin(async (tx) => {
        // Rough statistics are enough for a hundred partitions.
        await tx`set local default_statistics_target = 10`
        await tx.unsafe(
          `analyze accounting.usage_cost_events, accounting.usage_rollups,
            accounting.spend_counters, accounting.budget_rejected_charges,
            ${loaded.map((table) => `request_log.${table}`)}`,
        )
      })
    },
  }
}

/** A transaction that the caller ends; ending it twice has no effect. */
interface Transaction {
  readonly sql: TransactionSql
  commit(): Promise<void>
  rollback(): Promise<void>
}

async function beginTransaction(sql: Sql): Promise<Transaction> {
  const begun = Promise.withResolvers<TransactionSql>()
  const ended = Promise.withResolvers<void>()
  const over = sql.begin(async (tx) => {
    begun.resolve(tx)
    await ended.promise
  })
  over.catch(begun.reject)
  return {
    sql: await begun.promise,
    async commit() {
      ended.resolve()
      await over
    },
    async rollback() {
      ended.reject(new Error('rolled back'))
      await over.catch(() => {})
    },
  }
}

async function copyInto(
  sql: TransactionSql,
  table: string,
  columns: readonly string[],
  options = '',
): Promise<Copy> {
  const statement = `copy ${table} (${columns.join(', ')}) from stdin ${options}`
  return createCopy(await sql.unsafe(statement).writable(), () => sql`select`)
}

async function copyAll(copy: Copy, lines: readonly string[]): Promise<void> {
  for (const text of lines) await copy.write(text)
  await copy.end()
}

const loadName = (table: string, day: number) =>
  `request_log.demo_load_${partitionName(table, day)}`
const dayText = (day: number) => new Date(day).toISOString().slice(0, 10)
const partitionName = (table: string, day: number) =>
  `${table}_p${dayText(day).replaceAll('-', '')}`

async function isThere(sql: TransactionSql, table: string, day: number): Promise<boolean> {
  const [found] = await sql`
    select to_regclass(${`request_log.${partitionName(table, day)}`}) as name`
  return found?.name !== null
}

/** Loads rows before indexes exist; the indexes of a new partition are then built at once. */
async function createLoadTable(sql: TransactionSql, table: Loaded, day: number): Promise<void> {
  const load = loadName(table, day)
  await sql.unsafe(`
    drop table if exists ${load};
    create table ${load} (like request_log.${table} including all excluding indexes)`)
  // From now on, rows that are inserted through the parent are added to the roll-up.
  if (table !== 'request_logs' || (await isThere(sql, table, day))) return
  await sql.unsafe(`
    create trigger add_traffic after insert on ${load} referencing new table as added
      for each statement execute function request_log.add_traffic()`)
}

async function placeRows(sql: TransactionSql, table: Loaded, day: number): Promise<void> {
  const load = loadName(table, day)
  if (await isThere(sql, table, day)) {
    await sql.unsafe(`insert into request_log.${table} select * from ${load}; drop table ${load}`)
    return
  }
  const name = partitionName(table, day)
  await sql.unsafe(`
    drop trigger if exists add_traffic on ${load};
    alter table ${load} rename to ${name};
    alter table request_log.${table} attach partition request_log.${name}
      for values from ('${dayText(day)}T00:00:00Z') to ('${dayText(day + DAY_MS)}T00:00:00Z')`)
}

const rollupColumns = `bucket_start timestamptz, owner_kind text, owner_id text, model_key text,
  resolved_model_key text, provider_key text, upstream_model text, pricing_status text,
  requests bigint, prompt_tokens numeric, completion_tokens numeric, total_tokens numeric,
  uncached_input_tokens numeric, cache_read_tokens numeric, reasoning_tokens numeric,
  cost_pico_usd numeric, rejected_count bigint, rejected_pico_usd numeric`
const added = (name: string, columns: readonly string[]) =>
  columns.map((column) => `${column} = ${name}.${column} + excluded.${column}`).join(', ')

/** Writes counters and roll-ups of the ledger as the accounting plugin does. */
async function addToBooks(sql: TransactionSql, { rollups, counters }: Books, day: number) {
  await sql.unsafe(
    `insert into accounting.usage_rollups as known (${columnNames(rollupColumns)})
    select * from json_to_recordset($1::text::json) as r (${rollupColumns})
    order by 1, 2, 3, 4, 5, 6, 7, 8
    on conflict (bucket_start, owner_kind, owner_id, model_key, resolved_model_key, provider_key,
      upstream_model, pricing_status) do update set ${added('known', columnNames(rollupColumns).slice(8))}`,
    [JSON.stringify(rollups)],
  )
  await sql.unsafe(
    `with added as (
      insert into accounting.spend_counters as known (scope_key, utc_day, spent, rejected)
      select scope_key, $2::date, spent, rejected
      from json_to_recordset($1::text::json) as c (scope_key text, spent numeric, rejected numeric)
      order by scope_key
      on conflict (scope_key, utc_day) do update set ${added('known', ['spent', 'rejected'])}
      returning scope_key
    )
    insert into accounting.counter_changes (utc_day, scopes)
    select $2::date, array_agg(hashtextextended(scope_key, 0)) from added having count(*) > 0`,
    [JSON.stringify(counters), dayText(day)],
  )
}

const harnessColumns = `bucket_start timestamptz, owner_kind text, owner_id text,
  agent_harness_key text, agent_harness_label text, request_count bigint, exposed_tool_sum bigint,
  exposed_tool_requests bigint, invoked_tool_sum bigint, invoked_tool_requests bigint`
const unrecorded = `referenced_mcp_server_sum, referenced_mcp_server_requests, filtered_tool_sum,
  filtered_tool_requests`

/** Writes the roll-up of summaries as the request-log plugin does. */
async function addHarnesses(sql: TransactionSql, { harnesses }: Books): Promise<void> {
  const columns = columnNames(harnessColumns)
  await sql.unsafe(
    `insert into request_log.harness_rollups as known (${columns}, ${unrecorded})
    select bucket_start, owner_kind, owner_id, agent_harness_key, agent_harness_label,
      ${columns.slice(5).map((column) => `sum(${column})`)}, 0, 0, 0, 0
    from json_to_recordset($1::text::json) as h (${harnessColumns})
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4
    on conflict (bucket_start, owner_kind, owner_id, agent_harness_key) do update set
      ${added('known', columns.slice(5))}`,
    [JSON.stringify(harnesses)],
  )
}
