import { pricingSource } from 'model-gateway/accounting'
import { adminModules } from 'model-gateway/admin'
import {
  type BoundRouteFacts,
  boundRouteListeners,
  type ConfigSnapshot,
  snapshotListeners,
} from 'model-gateway/host'
import { definePlugin, optional, Type } from 'model-gateway/plugin'
import tables from '../../migrations/config-mirror/0001_tables.sql' with { type: 'text' }
import { configRoutes } from './admin.ts'
import { mirrorRows } from './rows.ts'
import { createStore } from './store.ts'

/** Mirrors the accepted models and routes to the database, for reports and queries. */
export default definePlugin({
  manifest: {
    id: 'plugin.config-mirror',
    version: '0.1.0',
    contract: 1,
    summary: 'Mirrors the models and routes of every accepted config into the database.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: ['database', 'clock'],
    uses: { prices: optional(pricingSource) },
    // Runs last, because no later step may reject a config that is mirrored already.
    after: ['plugin.identity', 'plugin.pricing-catalog', 'plugin.accounting', 'plugin.request-log'],
    migrations: [{ name: '0001_tables', sql: tables }],
  },
  setup(ctx) {
    const store = createStore(ctx.database)
    let inForce: ConfigSnapshot | undefined
    const config = () => {
      if (inForce === undefined) throw new Error('no config is loaded yet')
      return inForce
    }
    let routes: ReadonlyMap<string, BoundRouteFacts> = new Map()
    ctx.provide(boundRouteListeners, {
      inForce(next) {
        routes = next
      },
    })
    ctx.provide(adminModules, {
      id: 'config',
      routes: configRoutes({
        config,
        bound: (routeId) => routes.get(routeId),
        rates: ({ pricing }) => ctx.uses.prices()?.rates?.(pricing, ctx.clock.now()),
        priced: (pricingProviderId) =>
          ctx.uses.prices()?.models?.(pricingProviderId, ctx.clock.now()) ?? [],
      }),
    })
    ctx.provide(snapshotListeners, {
      async prepare(snapshot) {
        await store.replace(mirrorRows(snapshot))
        return () => {
          inForce = snapshot
        }
      },
    })
  },
})
