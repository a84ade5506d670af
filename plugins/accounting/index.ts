import {
  accounting,
  definePlugin,
  type PricingSource,
  pricingSource,
  Type,
} from 'model-gateway/plugin'
import tables from '../../migrations/accounting/0001_tables.sql' with { type: 'text' }
import { createAccounting } from './accounting.ts'
import { createStore } from './store.ts'

const SWEEP_INTERVAL_MS = 60_000

/** Keeps the spend ledger: one row for each call, durable before the caller has the reply's end. */
export default definePlugin({
  manifest: {
    id: 'plugin.accounting',
    version: '0.1.0',
    contract: 1,
    summary: 'The spend ledger, its counters, and the refusal of duplicate request ids.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: ['database', 'schedule', 'services', 'clock'],
    after: ['plugin.pricing-catalog'],
    migrations: [{ name: '0001_tables', sql: tables }],
  },
  setup(ctx) {
    const store = createStore(ctx.database)
    let prices: PricingSource | undefined
    const ledger = createAccounting({
      store,
      pricing: () => {
        prices ??= ctx.services.one(pricingSource)
        return prices
      },
      clock: ctx.clock,
      log: ctx.log,
    })
    ctx.provide(accounting, ledger)
    ctx.schedule.every(SWEEP_INTERVAL_MS, store.sweepClaims)
    return ledger.drained
  },
})
