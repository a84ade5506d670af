import { Elysia } from 'elysia'
import { internalError } from '../lifecycle/error-body.ts'
import type { Door, HttpRoute, Surface } from '../plugin/index.ts'
import { type Cors, forPages, shared } from './cors.ts'
import { createDataPlane, type DataPlaneServices } from './data-plane.ts'
import { errorResponse } from './error-response.ts'
import type { Health } from './health.ts'
import { createPluginRoutes } from './plugin-routes.ts'
import { requestIdOf } from './request-id.ts'
import { otherSpellings, spellings } from './spellings.ts'
import { createMethods, unknownRoute } from './unknown-route.ts'

export interface AppServices extends DataPlaneServices {
  readonly health: Pick<Health, 'live' | 'ready'>
  readonly httpRoutes: readonly HttpRoute[]
  readonly surfaces: readonly Surface[]
  /** Undefined: pages of other origins may not call. */
  readonly cors?: Cors | undefined
  /** Puts the limit on idle time back that `limitIdle` has lifted. */
  limitAgain(request: Request): void
  readonly door: Pick<Door, 'requireOwnHost'>
  /** A fault of the gateway itself, outside any exchange. */
  fault(message: string, error: unknown, requestId: string): void
}

// The lifecycle reads bodies itself, under its own limits.
const raw = { parse: 'none' } as const

/** The door: which path leads where, and nothing else. */
export function createApp(services: AppServices) {
  const infer = createDataPlane(services)
  const { cors } = services
  const app = new Elysia()
  const createSurfaces = (door: Elysia) => {
    const others = otherSpellings(services.surfaces.flatMap(({ paths }) => paths))
    for (const surface of services.surfaces) {
      const serve = ({ request }: { request: Request }) => infer(surface, request)
      const answer = cors === undefined ? serve : shared(serve, cors)
      for (const path of surface.paths) {
        for (const each of [path, ...(others.get(path) ?? [])]) door.post(each, answer, raw)
      }
    }
    return door
  }
  const isShared = sharedPaths(services)
  const methodsOf = createMethods(() => app.routes)
  return app
    .onError(({ error, code, request, path }) => {
      const { method, headers } = request
      const requestId = requestIdOf(headers)
      const surface = surfaceOf(path, services.surfaces)
      const told = (answer: Response) =>
        cors !== undefined && isShared(path) ? forPages(answer, request, cors) : answer
      if (code === 'NOT_FOUND') {
        const methods = methodsOf(path)
        if (method === 'OPTIONS' && methods.length > 0) {
          const added = isShared(path) ? cors?.preflight(request, methods) : undefined
          const allow = [...methods, 'OPTIONS'].join(', ')
          return new Response(null, {
            status: 204,
            headers: { ...added, allow, 'x-request-id': requestId },
          })
        }
        const refusal = unknownRoute(method, path, methods)
        return told(errorResponse(refusal, requestId, surface))
      }
      services.fault('a request failed outside its lifecycle', error, requestId)
      return told(errorResponse(internalError(error), requestId, surface))
    })
    .use(createSurfaces)
    .use(
      createPluginRoutes({
        ...services,
        keepOpen: (request) => services.limitIdle(request, 0),
      }),
    )
    .use(createHealthRoutes(services))
}

function createHealthRoutes({ health, httpRoutes }: AppServices) {
  const app = new Elysia().onAfterHandle(withRequestId)
  // Clients and balancers ask for it, to see whether somebody is there.
  if (!httpRoutes.some(({ path }) => path === '/')) app.get('/', () => health.live())
  return app.get('/healthz', () => health.live()).get('/readyz', () => health.ready())
}

function withRequestId({ request, responseValue }: { request: Request; responseValue: unknown }) {
  const { headers } = responseValue as Response
  headers.set('x-request-id', requestIdOf(request.headers))
}

/** The API of a path, those below its own included, which it may have elsewhere. */
function surfaceOf(path: string, surfaces: readonly Surface[]): Surface | undefined {
  return surfaces.find(({ paths }) => leadsTo(path, paths))
}

function leadsTo(path: string, paths: readonly string[]): boolean {
  return paths
    .flatMap((own) => spellings(own))
    .some((own) => path === own || path.startsWith(`${own}/`))
}

/** Paths that pages of other origins may call: surfaces, and what else is under `/v1`. */
function sharedPaths({ surfaces, httpRoutes }: Pick<AppServices, 'surfaces' | 'httpRoutes'>) {
  const own = httpRoutes
    .map(({ path }) => path.replace(/[/][*]$/, ''))
    .filter((path) => path.startsWith('/v1/'))
  return (path: string) => surfaceOf(path, surfaces) !== undefined || leadsTo(path, own)
}
