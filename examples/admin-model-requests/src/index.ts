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
    summary: 'Users request models, admins decide.',
    config: strictObject({}),
    needs: ['database'],
    uses: { audit: auditTrail },
    // Without an audit log the gateway does not start, because each decision must be audited.
    requires: ['plugin.audit-log'],
    // Each migration is applied once, in order. Never change a released one: add another.
    migrations: [
      { name: '0001_requests', sql: requests },
      { name: '0002_one_open', sql: oneOpen },
    ],
  },
  setup(ctx) {
    // The audit log is available once all plugins are set up, so it is read when it is used.
    const store = createStore(ctx.database, ctx.uses.audit)
    ctx.provide(adminModules, { id: 'model-requests', routes: createRoutes(store) })
  },
})
