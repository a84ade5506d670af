import {
  accounting,
  ConfigError,
  definePlugin,
  healthChecks,
  identity,
  type PricingSource,
  pricingSource,
  snapshotListeners,
  Type,
} from 'model-gateway/plugin'
import tables from '../../migrations/accounting/0001_tables.sql' with { type: 'text' }
import budgetTables from '../../migrations/accounting/0002_budgets.sql' with { type: 'text' }
import { openSpool } from '../_shared/spool.ts'
import { type AccountingSettings, createAccounting } from './accounting.ts'
import {
  accountingSection,
  budgetsSection,
  checkBudgets,
  serviceAccountsSection,
  usersSection,
} from './config.ts'
import { reconcileBudgets } from './reconcile.ts'
import { createStore } from './store.ts'

const SWEEP_EVERY_MS = 60_000
/** The longest that a change of another replica goes unseen. */
const REFRESH_EVERY_MS = 500
const TAKE_OVER_EVERY_MS = 5_000

/** Keeps the spend ledger: one row for each call, durable before the caller has the reply's end. */
export default definePlugin({
  manifest: {
    id: 'plugin.accounting',
    version: '0.1.0',
    contract: 1,
    summary: 'The spend ledger, its counters, budgets, and the refusal of duplicate request ids.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [accountingSection, budgetsSection],
    needs: ['database', 'schedule', 'services', 'clock', 'files'],
    after: ['plugin.pricing-catalog', 'plugin.identity'],
    migrations: [
      { name: '0001_tables', sql: tables },
      { name: '0002_budgets', sql: budgetTables },
    ],
    check: checkBudgets,
  },
  setup(ctx) {
    const { database, schedule, services, clock, log } = ctx
    const store = createStore(database)
    let prices: PricingSource | undefined
    let settings: AccountingSettings = { abortDrainMs: 10_000, commitTimeoutMs: 2_000 }
    let spoolDirectory: string | undefined

    const running = createAccounting({
      store,
      pricing: () => {
        prices ??= services.one(pricingSource)
        return prices
      },
      settings: () => settings,
      openSpool: (adopted) =>
        openSpool({
          directory: spoolDirectory ?? ctx.files.directory(),
          name: 'ledger',
          log,
          adopted,
        }),
      clock,
      log,
    })
    ctx.provide(accounting, running)

    /** The spool stays where it was opened, so that there is one. */
    async function placeSpool(directory: string): Promise<void> {
      const path = ['accounting', 'spool_dir']
      if (spoolDirectory !== undefined) {
        if (directory === spoolDirectory) return
        throw new ConfigError([{ path, message: 'another directory needs a restart' }])
      }
      spoolDirectory = directory
      try {
        await running.probeSpool()
      } catch (error) {
        throw new ConfigError([{ path, message: `${directory} cannot be written: ${error}` }])
      }
      await running.takeOver()
    }

    ctx.provide(snapshotListeners, {
      async prepare(snapshot) {
        const config = snapshot.section(accountingSection)
        await placeSpool(config.spool_dir ?? ctx.files.directory())
        const directory = await services.one(identity).directory()
        const configured = {
          budgets: snapshot.section(budgetsSection),
          users: snapshot.section(usersSection),
          serviceAccounts: snapshot.section(serviceAccountsSection),
        }
        await store.changeBudgets((existing) => {
          const { entries, warnings } = reconcileBudgets(configured, directory, existing)
          for (const { path, message } of warnings) log.warn({ path: path.join('.') }, message)
          return entries
        })
        await running.refresh()
        return () => {
          settings = {
            abortDrainMs: config.abort_drain_secs * 1000,
            commitTimeoutMs: config.commit_timeout_ms,
          }
        }
      },
    })

    ctx.provide(healthChecks, {
      name: 'accounting',
      check() {
        const { spoolDepth, away, writable } = running.status()
        return {
          status: writable ? (away || spoolDepth > 0 ? 'degraded' : 'ok') : 'failing',
          details: { spool_depth: spoolDepth, database: away ? 'away' : 'up' },
        }
      },
    })
    ctx.meter
      .createObservableGauge('gateway.spool.depth', {
        description: 'Ledger rows that wait on the local disk for the database',
      })
      .addCallback((gauge) => gauge.observe(running.status().spoolDepth))

    schedule.every(REFRESH_EVERY_MS, () => running.refresh().catch(() => {}))
    schedule.every(TAKE_OVER_EVERY_MS, running.takeOver)
    schedule.every(SWEEP_EVERY_MS, store.sweep)
    return running.close
  },
})
