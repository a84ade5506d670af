import { Elysia } from 'elysia'
import { internalError } from '../lifecycle/error-body.ts'
import { type Door, type HttpRoute, type Surface, spellingsOf } from '../plugin/index.ts'
import { createDataPlane, type DataPlaneServices } from './data-plane.ts'
import { errorResponse } from './error-response.ts'
import type { Health } from './health.ts'
import { restOf } from './http-call.ts'
import { createPluginRoutes } from './plugin-routes.ts'
import { requestIdOf } from './request-id.ts'
import { createAllowed, unknownRoute } from './unknown-route.ts'

export interface AppServices extends DataPlaneServices {
  readonly health: Pick<Health, 'live' | 'ready'>
  readonly httpRoutes: readonly HttpRoute[]
  readonly surfaces: readonly Surface[]
  readonly door: Pick<Door, 'requireOwnHost'>
  /** Called for a failure outside an exchange. */
  fault(message: string, error: unknown, requestId: string): void
}

// The lifecycle reads bodies itself, with its own limits.
const raw = { parse: 'none' } as const

/** The HTTP app: maps paths to handlers. */
export function createApp(services: AppServices) {
  const infer = createDataPlane(services)
  const app = new Elysia()
  const createSurfaces = (door: Elysia) => {
    for (const surface of services.surfaces) {
      for (const path of surface.paths.flatMap(spellingsOf))
        door.post(path, ({ request, params }) => infer(surface, request, restOf(params)), raw)
    }
    return door
  }
  const allowed = createAllowed(() => app.routes)
  return app
    .onError(({ error, code, request: { method, headers }, path }) => {
      const requestId = requestIdOf(headers)
      const surface = surfaceOf(path, services.surfaces)
      if (code === 'NOT_FOUND') {
        const allow = allowed(path)
        if (method === 'OPTIONS' && allow !== undefined) {
          return new Response(null, { status: 204, headers: { allow, 'x-request-id': requestId } })
        }
        return errorResponse(unknownRoute(method, path, allow), requestId, surface)
      }
      services.fault('a request failed outside its lifecycle', error, requestId)
      return errorResponse(internalError(error), requestId, surface)
    })
    .use(createSurfaces)
    .use(createPluginRoutes(services))
    .use(createHealthRoutes(services))
}

function createHealthRoutes({ health, httpRoutes }: AppServices) {
  const app = new Elysia().onAfterHandle(withRequestId)
  // Some clients request `/` to check that the gateway is reachable.
  if (!httpRoutes.some(({ path }) => path === '/')) app.get('/', () => health.live())
  return app.get('/healthz', () => health.live()).get('/readyz', () => health.ready())
}

function withRequestId({ request, responseValue }: { request: Request; responseValue: unknown }) {
  const { headers } = responseValue as Response
  headers.set('x-request-id', requestIdOf(request.headers))
}

/** The surface whose paths contain this path or a parent of it. */
function surfaceOf(path: string, surfaces: readonly Surface[]): Surface | undefined {
  return surfaces.find(({ paths }) =>
    paths
      .flatMap(spellingsOf)
      .some((own) => path === own || path.startsWith(`${own.replace(/\/\*$/, '')}/`)),
  )
}
