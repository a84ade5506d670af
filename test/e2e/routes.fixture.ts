import { createApp } from '../../kernel/http/app.ts'
import { adminModules, httpRoutes, type Services, sites } from '../../kernel/plugin/index.ts'

const unused = () => {
  throw new Error('only the routes are looked at')
}
const bodyLimits = { maxBytes: 0, timeoutMs: 0 }

/** All routes of the door, as `METHOD path`, with those that plugins bring. */
export function routesOf(registry: Services): string[] {
  const app = createApp({
    infer: unused,
    listModels: unused,
    bodyLimits,
    limitIdle: unused,
    streams: unused,
    fault: unused,
    sites: registry.all(sites),
    httpRoutes: registry.all(httpRoutes),
    limitAgain: unused,
    door: { requireOwnHost: unused },
    health: { live: unused, ready: unused },
    admin: {
      routes: registry.all(adminModules).flatMap(({ routes }) => routes),
      sessions: undefined,
      identity: { authenticate: unused },
      bodyLimits,
      publicBaseUrl: undefined,
      address: unused,
      keepOpen: unused,
      fault: unused,
    },
  })
  return app.routes.map(({ method, path }) => `${method} ${path}`)
}
