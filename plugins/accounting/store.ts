import type { Database } from 'model-gateway/plugin'
import type { LedgerRow } from './row.ts'
import type { Changes, Snapshot } from './spend.ts'
import {
  type BudgetArray,
  budgetArray,
  columns,
  names,
  readBudget,
  rollupKeys,
  sums,
} from './tables.ts'
import { startOfDay, type UtcDay } from './window.ts'

export interface Claim {
  readonly claim_id: string
  readonly request_id: string
  readonly ownership_scope_key: string
}

export interface Written {
  /** Id of the transaction that wrote the rows. */
  readonly transaction: bigint
  /** Event ids of rows whose request already has another row; stored as rejected charges. */
  readonly duplicates: ReadonlySet<string>
}

export interface Store {
  /**
   * Writes rows, and adds them to counters and roll-ups, in one transaction and one round trip.
   * Rows that already exist change nothing.
   */
  writeLedger(rows: readonly LedgerRow[]): Promise<Written>
  /** Returns the claim ids of requests that no other call has claimed. */
  claim(claims: readonly Claim[]): Promise<ReadonlySet<string>>
  release(claim: Claim): Promise<void>
  /** Deletes expired claims, and change notes older than CHANGES_KEPT_MS. */
  sweep(): Promise<void>
  /** Budgets that changed after a snapshot, and their counters from a day on. */
  readChanges(after: Snapshot, from: UtcDay): Promise<Changes>
  /** Resolves when the database answers. */
  ping(): Promise<void>
  /** Resolves if the database would accept the row, without storing it. Call it after a ping. */
  tryLedger(row: LedgerRow): Promise<void>
}

/** A process that has not read changes for longer must reload everything. */
export const CHANGES_KEPT_MS = 300_000

/** A snapshot that includes no transaction. */
export const NOTHING_SEEN: Snapshot = '1:1:'

/** Lifetime of a claim after admission; longer than any call takes. */
const CLAIM_MINUTES = 15

/** Statement timeout for the test write of a row. */
const TRIAL_TIMEOUT = '5s'

const input = `
  select * from json_to_recordset($1::text::json)
    as r (${columns}, scope_keys text[], rejection text)`

const hash = (key: string) => `hashtextextended(${key}, 0)`

const rollupPlaces = rollupKeys.map((_, n) => n + 1).join(', ')

// Keys are written in the same order everywhere, so that replicas cannot deadlock.
const writeLedgerSql = (schema: string) => `
  with input as materialized (${input}), written as (
    insert into "${schema}".usage_cost_events (${names})
    select ${names} from input where rejection is null order by request_id, ownership_scope_key
    on conflict do nothing
    returning event_id
  ), rejected as (
    insert into "${schema}".budget_rejected_charges (${names}, reason)
    select ${names}, rejection from input where rejection is not null order by event_id
    on conflict do nothing
    returning event_id
  ), added as materialized (
    select * from input join (
      select event_id from written union all select event_id from rejected
    ) as n using (event_id)
  ), counted as (
    insert into "${schema}".spend_counters as counter (scope_key, utc_day, spent, rejected)
    select scope_key, utc_day, coalesce(sum(cost_pico_usd) filter (where rejection is null), 0),
      coalesce(sum(cost_pico_usd) filter (where rejection is not null), 0)
    from added cross join unnest(scope_keys) as scope_key
    where cost_pico_usd > 0
    group by scope_key, utc_day order by scope_key, utc_day
    on conflict (scope_key, utc_day) do update set spent = counter.spent + excluded.spent,
      rejected = counter.rejected + excluded.rejected
  ), noted as (
    insert into "${schema}".counter_changes (utc_day, scopes)
    select utc_day, array_agg(distinct ${hash('scope_key')})
    from added cross join unnest(scope_keys) as scope_key
    where cost_pico_usd > 0
    group by utc_day
  ), rolled as (
    insert into "${schema}".usage_rollups as rollup (${[...rollupKeys, ...sums].map(([column]) => column).join(', ')})
    select ${[...rollupKeys, ...sums].map(([, expression]) => expression).join(', ')}
    from added
    group by ${rollupPlaces} order by ${rollupPlaces}
    on conflict (${rollupKeys.map(([column]) => column).join(', ')}) do update set
      ${sums.map(([column]) => `${column} = rollup.${column} + excluded.${column}`).join(', ')}
  )
  select pg_current_xact_id()::text as transaction, (
    select json_agg(event_id) from input
    where rejection is null and event_id not in (select event_id from written)
  ) as not_written`

// A separate statement, because only a new snapshot includes the rows that conflicted.
const keepDuplicatesSql = (schema: string) => `
  with theirs as materialized (
    select * from (${input}) as i
    where event_id = any($2::uuid[]) and not exists (
      select from "${schema}".usage_cost_events u
      where u.request_id = i.request_id and u.ownership_scope_key = i.ownership_scope_key
        and u.event_id = i.event_id)
  ), kept as (
    insert into "${schema}".budget_rejected_charges (${names}, reason)
    select ${names}, 'duplicate_race' from theirs order by event_id
    on conflict do nothing
  )
  select event_id from theirs`

const claimSql = (schema: string) => {
  const used = (table: string) => `exists (
    select from "${schema}".${table} u
    where u.request_id = i.request_id and u.ownership_scope_key = i.ownership_scope_key)`
  return `
    insert into "${schema}".request_claims (claim_id, request_id, ownership_scope_key, expires_at)
    select claim_id, request_id, ownership_scope_key, now() + interval '${CLAIM_MINUTES} minutes'
    from json_to_recordset($1::text::json)
      as i (claim_id uuid, request_id text, ownership_scope_key text)
    where not ${used('usage_cost_events')} and not ${used('budget_rejected_charges')}
    order by request_id, ownership_scope_key
    on conflict do nothing
    returning claim_id`
}

const readChangesSql = (schema: string) => {
  const unseen = (row: string) =>
    `${row}.changed_xid >= pg_snapshot_xmin($1::pg_snapshot)
      and not pg_visible_in_snapshot(${row}.changed_xid, $1::pg_snapshot)`
  return `
    with changed as materialized (select * from "${schema}".budgets b where ${unseen('b')})
    select pg_current_snapshot()::text as snapshot,
      (select json_agg(${budgetArray}) from changed) as budgets,
      (
        select json_agg(json_build_array(scope_key, utc_day - date '1970-01-01', spent::text,
          rejected::text))
        from (
          select c.* from (
            select distinct utc_day, unnest(scopes) as scope
            from "${schema}".counter_changes n where utc_day >= $2::date and ${unseen('n')}
          ) as n join "${schema}".budgets b on b.active and ${hash('b.scope_key')} = n.scope
            join "${schema}".spend_counters c using (scope_key, utc_day)
          union
          select c.* from changed b join "${schema}".spend_counters c using (scope_key)
          where b.active and c.utc_day >= $2::date
        ) as c
      ) as counters`
}

export function createStore({ sql, schema }: Database): Store {
  const text = {
    writeLedger: writeLedgerSql(schema),
    keepDuplicates: keepDuplicatesSql(schema),
    claim: claimSql(schema),
    readChanges: readChangesSql(schema),
  }
  /** A prepared statement, parsed once per connection. */
  const run = <Row extends object>(statement: string, parameters: string[] = []) =>
    sql.unsafe<Row[]>(statement, parameters, { prepare: true })

  return {
    async writeLedger(rows) {
      const json = JSON.stringify(rows)
      const [result] = await run<{ transaction: string; not_written: string[] | null }>(
        text.writeLedger,
        [json],
      )
      if (result === undefined) throw new Error('the ledger statement returned no row')
      const transaction = BigInt(result.transaction)
      if (result.not_written === null) return { transaction, duplicates: none }
      const theirs = await run<{ event_id: string }>(text.keepDuplicates, [
        json,
        `{${result.not_written.join()}}`,
      ])
      return { transaction, duplicates: new Set(theirs.map((row) => row.event_id)) }
    },
    async claim(claims) {
      const granted = await run<{ claim_id: string }>(text.claim, [JSON.stringify(claims)])
      return new Set(granted.map((row) => row.claim_id))
    },
    async release(claim) {
      await sql`
        delete from ${sql(schema)}.request_claims
        where request_id = ${claim.request_id}
          and ownership_scope_key = ${claim.ownership_scope_key} and claim_id = ${claim.claim_id}`
    },
    async sweep() {
      await sql`delete from ${sql(schema)}.request_claims where expires_at < now()`
      await sql`
        delete from ${sql(schema)}.counter_changes
        where changed_at < now() - ${`${2 * CHANGES_KEPT_MS} milliseconds`}::interval`
    },
    async readChanges(after, from) {
      const [result] = await run<{
        snapshot: string
        budgets: BudgetArray[] | null
        counters: [scopeKey: string, day: UtcDay, spent: string, rejected: string][] | null
      }>(text.readChanges, [after, startOfDay(from).toISOString()])
      if (result === undefined) throw new Error('the query for changes returned no row')
      return {
        snapshot: result.snapshot,
        budgets: (result.budgets ?? []).map(readBudget),
        counters: (result.counters ?? []).map(([key, day, spent, rejected]) => ({
          scopeKey: key,
          day,
          spent: BigInt(spent),
          rejected: BigInt(rejected),
        })),
      }
    },
    async ping() {
      await sql`select 1`
    },
    async tryLedger(row) {
      const session = await sql.reserve()
      try {
        // Sent together, so that it takes one round trip, like a commit.
        const sent = [
          session`begin`,
          session.unsafe(`set local statement_timeout = '${TRIAL_TIMEOUT}'`),
          session.unsafe(text.writeLedger, [JSON.stringify([row])], { prepare: true }),
          session`rollback`,
        ]
        // If anything fails, the session is returned after the rollback.
        await Promise.allSettled(sent)
        await Promise.all(sent)
      } finally {
        session.release()
      }
    },
  }
}

const none: ReadonlySet<string> = new Set()
