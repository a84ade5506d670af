import { adminModules } from 'model-gateway/admin'
import { definePlugin, strictObject } from 'model-gateway/plugin'
import { sampleNameRoutes } from './admin.ts'
import { createStore } from './store.ts'
import { tables } from './tables.ts'

export default definePlugin({
  manifest: {
    id: 'admin.sample-name',
    version: '0.1.0',
    contract: 1,
    summary: 'Notes of platform admins, stored in the database.',
    config: strictObject({}),
    needs: ['database'],
    // Each migration is applied once, in order, in the plugin's own Postgres schema. Never change
    // one; add another.
    migrations: [{ name: '0001_notes', sql: tables }],
  },
  setup(ctx) {
    const routes = sampleNameRoutes(createStore(ctx.database))
    ctx.provide(adminModules, { id: 'sample-name', routes })
  },
})
