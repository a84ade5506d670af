import { Elysia } from 'elysia'
import { CHALLENGE, internalError } from '../lifecycle/error-body.ts'
import {
  type Door,
  GatewayError,
  type HttpRoute,
  type Surface,
  spellingsOf,
} from '../plugin/index.ts'
import { errorResponse } from './error-response.ts'
import { callOf, type HttpCallServices, restOf } from './http-call.ts'
import { callersRequestId, requestIdOf } from './request-id.ts'

export interface PluginRoutesServices extends HttpCallServices {
  readonly httpRoutes: readonly HttpRoute[]
  readonly surfaces?: readonly Surface[]
  readonly door: Pick<Door, 'requireOwnHost'>
  /** Called for a failure of the gateway or of a plugin. */
  fault(message: string, error: unknown, requestId: string): void
}

/** Adds the routes of plugins, with request ids, host checks and error handling. */
export function createPluginRoutes(services: PluginRoutesServices) {
  const app = new Elysia()
  for (const route of services.httpRoutes) {
    // The router needs the same parameter name at the same place, and plugins choose different
    // ones.
    const names: string[] = []
    const path = route.path.replaceAll(/:(\w+)/g, (_, name) => `:p${names.push(name) - 1}`)
    const serve = ({ request, params }: { request: Request; params?: Record<string, string> }) => {
      const given = names.map((name, at) => [name, params?.[`p${at}`]])
      const named = Object.fromEntries(given.filter(([, value]) => value !== undefined))
      return answer(route, request, { ...named, ...restOf(params) }, services)
    }
    for (const spelling of spellingsOf(path)) {
      app.route(route.method, spelling, serve, { parse: 'none' })
    }
  }
  return app
}

async function answer(
  route: HttpRoute,
  request: Request,
  params: Readonly<Record<string, string>>,
  services: PluginRoutesServices,
): Promise<Response> {
  const { headers } = request
  let requestId = requestIdOf(headers)
  try {
    if (route.ownHost === true) services.door.requireOwnHost(headers.get('host'))
    if (route.takesAnyRequestId !== true)
      requestId = callersRequestId(headers.get('x-request-id')) ?? requestId
    const response = await route.handle(callOf(request, params, requestId, services))
    if (response.status === 401) {
      for (const [name, value] of Object.entries(CHALLENGE)) response.headers.set(name, value)
    }
    if (!response.headers.has('x-request-id')) response.headers.set('x-request-id', requestId)
    return response
  } catch (error) {
    const api = route.errorsOf?.((name) => headers.get(name))
    const surface = services.surfaces?.find(({ id }) => id === api)
    if (error instanceof GatewayError) return errorResponse(error, requestId, surface)
    services.fault(`${route.method} ${route.path} failed`, error, requestId)
    return errorResponse(internalError(error), requestId, surface)
  }
}
