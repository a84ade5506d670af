import { accounting } from 'model-gateway/accounting'
import { httpRouteLists, httpRoutes } from 'model-gateway/http'
import { identity } from 'model-gateway/identity'
import { commands, definePlugin, optional, strictObject, UsageError } from 'model-gateway/plugin'
import * as contract from './contract.ts'
import { adminModules, adminSessions } from './contract.ts'
import { createDocs, openApiText } from './docs.ts'
import { createAdminPlane } from './plane.ts'

const openapi = {
  name: 'openapi',
  summary: 'Prints the OpenAPI document of the control plane',
  usage: '',
  database: 'empty',
} as const

/** The control plane: the routes that plugins bring to `/api/v1`, and their documentation. */
export default definePlugin({
  manifest: {
    id: 'plugin.admin-api',
    version: '0.1.0',
    contract: 1,
    summary: 'The JSON API of the control plane at /api/v1, with its OpenAPI document at /docs.',
    config: strictObject({}),
    needs: ['door'],
    uses: {
      modules: adminModules,
      sessions: optional(adminSessions),
      identity,
      accounting: optional(accounting),
    },
    commands: [openapi],
  },
  contracts: { 'model-gateway/admin': contract },
  setup({ uses, door, log, provide }) {
    const routes = () => uses.modules().flatMap((module) => module.routes)
    for (const route of createDocs(routes)) provide(httpRoutes, route)
    provide(httpRouteLists, {
      routes: () =>
        createAdminPlane({
          modules: uses.modules(),
          sessions: uses.sessions(),
          identity: uses.identity(),
          accounting: uses.accounting(),
          door,
          log,
        }),
    })
    provide(commands, {
      name: openapi.name,
      async run([word], out) {
        if (word !== undefined) throw new UsageError(`unexpected argument '${word}'`)
        out((await openApiText(routes())).trimEnd())
      },
    })
  },
})
