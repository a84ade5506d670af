import {
  accounting,
  commands,
  definePlugin,
  httpRouteLists,
  httpRoutes,
  identity,
  strictObject,
  UsageError,
} from 'model-gateway/plugin'
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
    needs: ['services', 'door'],
    commands: [openapi],
  },
  contracts: { 'model-gateway/admin': contract },
  setup({ services, door, log, provide }) {
    const routes = () => services.all(adminModules).flatMap((module) => module.routes)
    for (const route of createDocs(routes)) provide(httpRoutes, route)
    provide(httpRouteLists, {
      routes: () =>
        createAdminPlane({
          modules: services.all(adminModules),
          sessions: services.all(adminSessions)[0],
          identity: services.one(identity),
          accounting: services.all(accounting)[0],
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
