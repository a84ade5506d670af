import { accounting, accountingSinks, pricingSource } from 'model-gateway/accounting'
import { adminModules, auditTrail, budgetWriter } from 'model-gateway/admin'
import { type ConfigSnapshot, snapshotListeners } from 'model-gateway/host'
import { identity } from 'model-gateway/identity'
import {
  ConfigError,
  type Disposer,
  definePlugin,
  healthChecks,
  named,
  optional,
  Type,
} from 'model-gateway/plugin'
import tables from '../../migrations/accounting/0001_tables.sql' with { type: 'text' }
import budgetTables from '../../migrations/accounting/0002_budgets.sql' with { type: 'text' }
import rollupsByUpstream from '../../migrations/accounting/0003_rollups_by_upstream.sql' with {
  type: 'text',
}
import alertTables from '../../migrations/accounting/0004_budget_alerts.sql' with { type: 'text' }
import lineItems from '../../migrations/accounting/0005_line_items.sql' with { type: 'text' }
import unpricedCalls from '../../migrations/accounting/0006_unpriced_calls.sql' with {
  type: 'text',
}
import type { Aliases } from '../_shared/model-names.ts'
import { createNote } from '../_shared/note.ts'
import { openSpool } from '../_shared/spool.ts'
import { type AccountingSettings, createAccounting } from './accounting.ts'
import { alertRoutes } from './admin-alerts.ts'
import { budgetRoutes } from './admin-budgets.ts'
import { burnDownRoutes } from './admin-burn-down.ts'
import { dailyRoutes } from './admin-daily.ts'
import { spendRoutes } from './admin-spend.ts'
import { createAlertStore } from './alert-store.ts'
import { createAlerts, type MailSettings } from './alerts.ts'
import { createBudgetStore } from './budget-store.ts'
import { createBudgetWriter } from './budget-writer.ts'
import {
  accountingSection,
  budgetAlertsSection,
  budgetsSection,
  checkConfig,
  serviceAccountsSection,
  usersSection,
} from './config.ts'
import * as contract from './contract.ts'
import { createDailyStore } from './daily-store.ts'
import { errors } from './errors.ts'
import { createBudgetKeeper } from './keep-budgets.ts'
import { createReportStore } from './report-store.ts'
import { createSinks, createSinkTools, type Sinks } from './sinks.ts'
import { createStore } from './store.ts'
import { createMailTransport } from './transport.ts'

const SWEEP_EVERY_MS = 60_000
/** Interval at which changes of other replicas are loaded. */
const REFRESH_EVERY_MS = 500
const TAKE_OVER_EVERY_MS = 5_000
const LOOK_FOR_MAILS_EVERY_MS = 1_000

/**
 * Keeps the spend ledger: one row per call, durable before the caller receives the end of the
 * reply.
 */
export default definePlugin({
  contracts: { 'model-gateway/accounting': contract },
  manifest: {
    id: 'plugin.accounting',
    version: '0.1.0',
    contract: 1,
    summary: 'The spend ledger, budgets with their alerts, spend reports, duplicate request ids.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [accountingSection, budgetsSection, budgetAlertsSection],
    needs: ['database', 'schedule', 'clock', 'files'],
    uses: {
      identity,
      prices: pricingSource,
      trail: optional(auditTrail),
      sinks: named(accountingSinks),
    },
    provides: [accounting, budgetWriter],
    after: ['plugin.pricing-catalog'],
    requires: ['plugin.identity'],
    errors,
    migrations: [
      { name: '0001_tables', sql: tables },
      { name: '0002_budgets', sql: budgetTables },
      { name: '0003_rollups_by_upstream', sql: rollupsByUpstream },
      { name: '0004_budget_alerts', sql: alertTables },
      { name: '0005_line_items', sql: lineItems },
      { name: '0006_unpriced_calls', sql: unpricedCalls },
    ],
    check: checkConfig,
  },
  setup(ctx) {
    const { database, schedule, uses, clock, log } = ctx
    const store = createStore(database)
    const budgets = createBudgetStore(database)
    let settings: AccountingSettings = { abortDrainMs: 10_000, commitTimeoutMs: 2_000 }
    let spoolDirectory: string | undefined

    const directory = () => uses.identity().directory()
    let mailing: MailSettings | undefined
    let models: Aliases = new Map()
    const alertStore = createAlertStore(database)
    const alerts = createAlerts({
      store: alertStore,
      directory,
      settings: () => mailing,
      clock,
      log,
    })
    const running = createAccounting({
      store,
      pricing: uses.prices,
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
      low: alerts.note,
    })
    const sinkTools = createSinkTools(ctx)
    let sinks: Sinks | undefined
    ctx.provide(accounting, {
      ...running,
      async settle(call) {
        const settlement = await running.settle(call)
        sinks ??= createSinks(uses.sinks(), sinkTools)
        sinks.push(call, settlement)
        return settlement
      },
      async drain() {
        await sinks?.drain()
      },
    })

    const spoolPath = (snapshot: ConfigSnapshot) =>
      snapshot.section(accountingSection).spool_dir ?? ctx.files.directory()

    async function placeSpool(directory: string): Promise<void> {
      if (spoolDirectory !== undefined) return
      spoolDirectory = directory
      try {
        await running.probeSpool()
      } catch (error) {
        const path = ['accounting', 'spool_dir']
        throw new ConfigError([{ path, message: `${directory} cannot be written: ${error}` }])
      }
      await running.takeOver()
    }

    /** Loads the changes of other replicas, and raises alerts. */
    async function look(): Promise<void> {
      await running.refresh()
      await alerts.raise()
    }
    /**
     * Runs after an admin's change is committed; if it fails, the next periodic reload picks the
     * change up.
     */
    const committed = () =>
      look().catch((err: unknown) =>
        log.warn({ err }, 'failed to reload budgets and spend after a change'),
      )

    const keeper = createBudgetKeeper({ store: budgets, directory, log, changed: look })
    let stopWatching: Disposer | undefined
    ctx.provide(snapshotListeners, {
      /**
       * The spool directory cannot change while the gateway runs, so that only one spool exists.
       */
      check(snapshot) {
        if (spoolDirectory === undefined || spoolPath(snapshot) === spoolDirectory) return
        const path = ['accounting', 'spool_dir']
        throw new ConfigError([{ path, message: 'restart the gateway to change the directory' }])
      },
      async prepare(snapshot) {
        const config = snapshot.section(accountingSection)
        await placeSpool(spoolPath(snapshot))
        const configured = {
          budgets: snapshot.section(budgetsSection),
          users: snapshot.section(usersSection),
          serviceAccounts: snapshot.section(serviceAccountsSection),
        }
        await keeper.prepare(configured)
        const email = snapshot.section(budgetAlertsSection).email
        return () => {
          settings = {
            abortDrainMs: config.abort_drain_secs * 1000,
            commitTimeoutMs: config.commit_timeout_ms,
          }
          models = snapshot.models
          mailing = {
            transport: createMailTransport(email, log),
            pollIntervalMs: email.poll_interval_secs * 1000,
            batchSize: email.batch_size,
          }
          keeper.accept(configured)
          stopWatching ??= uses.identity().onChange(() => void keeper.ownersChanged())
        }
      },
    })

    ctx.provide(
      budgetWriter,
      createBudgetWriter({ store: budgets, audit: uses.trail, changed: committed }),
    )
    ctx.provide(adminModules, {
      id: 'spend',
      routes: [
        ...budgetRoutes({
          store: budgets,
          directory,
          models: () => models,
          audit: uses.trail,
          clock,
          changed: committed,
        }),
        ...burnDownRoutes({ store: budgets, directory, clock }),
        ...spendRoutes({
          store: createReportStore(database),
          directory,
          clock,
          note: createNote(uses.trail),
        }),
        ...dailyRoutes({ store: createDailyStore(database), directory, clock }),
        ...alertRoutes({ store: alertStore, directory }),
      ],
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
        description: 'Ledger rows in the local spool that are not in the database yet',
      })
      .addCallback((gauge) => gauge.observe(running.status().spoolDepth))

    schedule.every(REFRESH_EVERY_MS, () =>
      look().catch((err) => {
        // An outage was already logged when it began.
        if (!running.status().away) log.error({ err }, 'failed to reload budgets and spend')
      }),
    )
    schedule.every(LOOK_FOR_MAILS_EVERY_MS, alerts.poll)
    schedule.every(TAKE_OVER_EVERY_MS, running.takeOver)
    schedule.every(TAKE_OVER_EVERY_MS, keeper.catchUp)
    schedule.every(SWEEP_EVERY_MS, store.sweep)
    return async () => {
      await stopWatching?.()
      await keeper.drained()
      alerts.close()
      await running.close()
    }
  },
})
