import { pricingSource } from 'model-gateway/accounting'
import { snapshotListeners } from 'model-gateway/host'
import { commands, definePlugin, Type } from 'model-gateway/plugin'
import tables from '../../migrations/pricing-catalog/0001_tables.sql' with { type: 'text' }
import contextTiers from '../../migrations/pricing-catalog/0002_context_tiers.sql' with {
  type: 'text',
}
import priceSheets from '../../migrations/pricing-catalog/0003_price_sheets.sql' with {
  type: 'text',
}
import { createConfigVersions } from '../_shared/config-versions.ts'
import { buildCatalog, withOverrides } from './catalog.ts'
import { commandSpecs, priceCommands } from './commands.ts'
import { checkPricing, pricing } from './config.ts'
import { pricedModels, resolvePrice, resolveRates } from './resolve.ts'
import { bundledSnapshot } from './snapshot.ts'
import { storeCatalog } from './store.ts'

/** Prices calls from a bundled price list and the config's overrides. */
export default definePlugin({
  manifest: {
    id: 'plugin.pricing-catalog',
    version: '0.1.0',
    contract: 1,
    summary: 'Exact prices from a bundled, dated price list and from pricing.overrides.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [pricing],
    commands: commandSpecs,
    needs: ['database', 'clock'],
    provides: [pricingSource],
    migrations: [
      { name: '0001_tables', sql: tables },
      { name: '0002_context_tiers', sql: contextTiers },
      { name: '0003_price_sheets', sql: priceSheets },
    ],
    check: checkPricing,
  },
  setup(ctx) {
    const bundled = buildCatalog(bundledSnapshot)
    const catalogs = createConfigVersions(bundled)
    ctx.provide(pricingSource, {
      resolve: (query) => resolvePrice(catalogs.of(query.configVersion), query),
      rates: (identity, at) => resolveRates(catalogs.latest(), identity, at),
      models: (pricingProviderId, at) => pricedModels(catalogs.latest(), pricingProviderId, at),
    })
    const { database, clock } = ctx
    const parts = { bundled, inForce: catalogs.latest, database, now: clock.now }
    for (const command of priceCommands(parts)) ctx.provide(commands, command)
    ctx.provide(snapshotListeners, {
      async prepare(snapshot) {
        const next = withOverrides(bundled, snapshot.section(pricing).overrides)
        await storeCatalog(ctx.database, next)
        return () => catalogs.accept(snapshot.version, next)
      },
    })
  },
})
