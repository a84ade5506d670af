import { adminModules, auditTrail } from 'model-gateway/admin'
import { definePlugin, optional, Type } from 'model-gateway/plugin'
import { createNote } from '../_shared/note.ts'
import { createReports } from './_shared/store.ts'
import { overviewRoutes } from './overview/routes.ts'
import { rankingRoutes } from './rankings/routes.ts'
import { requestLogRoutes } from './request-logs/routes.ts'
import { usageRoutes } from './usage/routes.ts'

/** Reports on the tables of other plugins; has no own tables. */
export default definePlugin({
  manifest: {
    id: 'plugin.observability',
    version: '0.1.0',
    contract: 1,
    summary: 'Request logs, rankings, own usage and the overview of the control plane.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: ['database', 'clock'],
    uses: { trail: optional(auditTrail) },
    requires: ['plugin.identity', 'plugin.accounting', 'plugin.request-log'],
  },
  setup({ database, clock, uses, provide }) {
    const note = createNote(uses.trail)
    const reports = createReports(database)
    provide(adminModules, {
      id: 'observability',
      routes: [
        ...requestLogRoutes(reports, clock, note),
        ...rankingRoutes(reports, clock),
        ...overviewRoutes(reports, clock),
        ...usageRoutes(reports, clock),
      ],
    })
  },
})
