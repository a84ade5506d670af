import { pricingSource } from 'model-gateway/accounting'
import { snapshotListeners } from 'model-gateway/host'
import { commands, definePlugin, optional, strictObject } from 'model-gateway/plugin'
import { reconcile, reconcileCommand } from './command.ts'
import { createStore } from './store.ts'

/** Compares vendors' charges with the ledger. */
export default definePlugin({
  manifest: {
    id: 'plugin.invoice-check',
    version: '0.1.0',
    contract: 1,
    summary: "The command that compares a vendor's usage or cost file with the ledger.",
    config: strictObject({}),
    commands: [reconcile],
    needs: ['database', 'clock'],
    uses: { prices: optional(pricingSource) },
    requires: ['plugin.accounting'],
  },
  setup({ database, clock, uses, provide }) {
    let providers: readonly string[] = []
    provide(snapshotListeners, {
      prepare: (snapshot) =>
        Promise.resolve(() => {
          providers = [...snapshot.providers.keys()]
        }),
    })
    provide(
      commands,
      reconcileCommand({
        store: createStore(database),
        providers: () => providers,
        prices: uses.prices,
        clock,
      }),
    )
  },
})
