import type { AdminRoute } from 'model-gateway/admin'
import type { ExchangeRecord } from 'model-gateway/observer'
import type { Sql } from 'postgres'
import { createTestDatabase } from '../../test/harness/database.ts'
import accounting from '../accounting/index.ts'
import identity from '../identity/index.ts'
import requestLog from '../request-log/index.ts'
import { createStore } from '../request-log/store.ts'
import { encodedRow, exchange } from '../request-log/testing.ts'
import { createReports, type Reports } from './_shared/store.ts'
import { overviewRoutes } from './overview/routes.ts'
import { rankingRoutes } from './rankings/routes.ts'
import { requestLogRoutes } from './request-logs/routes.ts'
import { usageRoutes } from './usage/routes.ts'

/** Saturday, 10:30: the window of every report ends at 12:00. */
export const now = new Date('2026-11-21T10:30:00.000Z')

export interface Bench {
  readonly sql: Sql
  /** The data of a route's reply to a query at `now`. */
  get<T>(path: string, query?: object, more?: { caller?: object; params?: object }): Promise<T>
  /** Writes request logs that ended at these times, as the gateway does. */
  log(
    ...entries: readonly (readonly [at: Date, changes?: Partial<ExchangeRecord>])[]
  ): Promise<void>
  addUser(id: string, name: string): Promise<void>
  /** A row of the ledger's roll-up. */
  spend(row: Spend): Promise<void>
  stop(): Promise<void>
}

export interface Spend {
  readonly owner: string
  readonly kind?: 'user' | 'service_account'
  readonly at?: string
  readonly model?: string
  readonly provider?: string
  readonly picoUsd?: bigint | number
  readonly requests?: number
  readonly tokens?: number
  readonly status?: string
}

/**
 * The routes over a database with the tables of all plugins, all empty; `change` replaces the
 * function that reads it.
 */
export async function openBench(
  change: (reports: Reports) => Reports = (reports) => reports,
): Promise<Bench> {
  const database = await createTestDatabase()
  const { sql } = database
  for (const { manifest } of [identity, accounting]) {
    await database.forPlugin(manifest.id, manifest.migrations ?? [])
  }
  const { id, migrations = [] } = requestLog.manifest
  const own = await database.forPlugin(id, migrations)
  const store = createStore(own)
  const reports = change(createReports(own))
  const clock = { now: () => now }
  const routes: readonly AdminRoute[] = [
    requestLogRoutes,
    rankingRoutes,
    overviewRoutes,
    usageRoutes,
  ].flatMap((make) => make(reports, clock, () => {}))
  return {
    sql,
    async get<T>(path: string, query = {}, more = {}) {
      const route = routes.find((candidate) => candidate.path === path)
      if (route === undefined) throw new Error(`route ${path} does not exist`)
      return (await route.handle({ query, ...more } as never)) as T
    },
    async log(...entries) {
      await store.write(entries.map(([at, changes]) => encodedRow(exchange(changes), at.getTime())))
    },
    async addUser(userId, name) {
      await sql`
        insert into identity.users (id, name, email) values (${userId}, ${name}, ${`${userId}@x.test`})`
    },
    async spend({ owner, kind = 'user', at = '2026-11-21T00:00:00Z', ...row }) {
      const { model = 'm', provider = 'p', picoUsd = 0, requests = 1, tokens = 0 } = row
      await sql`
        insert into accounting.usage_rollups (bucket_start, owner_kind, owner_id, model_key,
          resolved_model_key, provider_key, upstream_model, pricing_status, requests, total_tokens,
          prompt_tokens, cost_pico_usd)
        values (${at}, ${kind}, ${owner}, ${`asked-${model}`}, ${model}, ${provider}, 'up',
          ${row.status ?? 'priced'}, ${requests}, ${tokens}, ${tokens}, ${String(picoUsd)})`
    },
    stop: () => database.drop(),
  }
}

/** The nth valid id of a user or service account. */
export function idOf(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
}
