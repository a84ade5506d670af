import { adminModules, auditTrail } from 'model-gateway/admin'
import { definePlugin, strictObject } from 'model-gateway/plugin'
import { createRoutes } from './admin.ts'
import { createStore } from './store.ts'
import { oneOpen, requests } from './tables.ts'

export default definePlugin({
  manifest: {
    id: 'admin.model-requests',
    version: '1.0.0',
    contract: 1,
    summary: 'People ask for models, admins decide.',
    config: strictObject({}),
    needs: ['database'],
    uses: { audit: auditTrail },
    // Decisions are audited or not taken: without the log the gateway does not start.
    requires: ['plugin.audit-log'],
    // Applied once each, in order. Never change one that was released: add one.
    migrations: [
      { name: '0001_requests', sql: requests },
      { name: '0002_one_open', sql: oneOpen },
    ],
  },
  setup(ctx) {
    // The audit log is there when all plugins are set up, so it is asked for when it is used.
    const store = createStore(ctx.database, ctx.uses.audit)
    ctx.provide(adminModules, { id: 'model-requests', routes: createRoutes(store) })
  },
})
