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
    summary: 'Notes of platform admins, in a table of their own.',
    config: strictObject({}),
    needs: ['database'],
    // Applied once each, in order, in the plugin's own Postgres schema. Never change one: add one.
    migrations: [{ name: '0001_notes', sql: tables }],
  },
  setup(ctx) {
    const routes = sampleNameRoutes(createStore(ctx.database))
    ctx.provide(adminModules, { id: 'sample-name', routes })
  },
})
