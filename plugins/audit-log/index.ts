import { adminModules, auditTrail, definePlugin, Type } from 'model-gateway/plugin'
import tables from '../../migrations/audit-log/0001_tables.sql' with { type: 'text' }
import { auditRoutes } from './admin.ts'
import { createStore } from './store.ts'

/** Keeps who changed what: each entry stands or falls with the change itself. */
export default definePlugin({
  manifest: {
    id: 'plugin.audit-log',
    version: '0.1.0',
    contract: 1,
    summary: 'The log of what administrators changed.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: ['database'],
    migrations: [{ name: '0001_tables', sql: tables }],
  },
  setup(ctx) {
    const store = createStore(ctx.database)
    ctx.provide(auditTrail, store)
    ctx.provide(adminModules, { id: 'audit-log', routes: auditRoutes(store) })
  },
})
