import { Elysia } from 'elysia'
import { type BodyLimits, readBody } from '../../kernel/http/body.ts'
import { errorResponse } from '../../kernel/http/error-response.ts'
import { urlOf } from '../../kernel/http/request.ts'
import { callersRequestId, newRequestId } from '../../kernel/http/request-id.ts'
import { internalError } from '../../kernel/lifecycle/error-body.ts'
import {
  type Accounting,
  type AdminCall,
  type AdminRoute,
  type AdminSessions,
  type Audience,
  type CallerOf,
  cookieValues,
  GatewayError,
  type Identity,
  presentedKey,
  SESSION_COOKIE,
  type SessionCaller,
} from '../../kernel/plugin/index.ts'
import { compileCheck, saysNothing } from './check.ts'
import { streamedText } from './streamed-text.ts'

export interface AdminPlaneServices {
  readonly routes: readonly AdminRoute[]
  /** Absent: nobody can sign in, and only API keys are known. */
  readonly sessions: AdminSessions | undefined
  readonly identity: Pick<Identity, 'authenticate'>
  /** Absent: nobody keeps budgets, and every owner of a key may call. */
  readonly accounting?: Pick<Accounting, 'checkOwner'> | undefined
  readonly bodyLimits: BodyLimits
  /** The gateway's address as browsers see it, when a proxy stands in front. */
  readonly publicBaseUrl: string | undefined
  /** Address of the other end of the connection. */
  address(request: Request): string | undefined
  /** Lifts the server's idle timeout from a request whose body has arrived. */
  keepOpen(request: Request): void
  /** A fault of the gateway itself. */
  fault(message: string, error: unknown, requestId: string): void
}

const UNSAFE = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const JSON_TYPE = 'application/json; charset=utf-8'

/** The control plane: audience, same-origin rule, schemas, envelope and errors around each route. */
export function createAdminPlane(services: AdminPlaneServices) {
  const app = new Elysia()
  for (const route of services.routes) {
    const answer = createRoute(route, services)
    // The router wants one name for one place, and plugins do not know each other's.
    const names: string[] = []
    const path = route.path.replaceAll(
      /\{(\w+)\}/g,
      (_, name: string) => `:p${names.push(name) - 1}`,
    )
    app.route(
      route.method,
      path,
      ({ request, params }) => {
        const values: Record<string, string> = params ?? {}
        const named = names.map((name, at) => [name, values[`p${at}`] ?? ''])
        return answer(request, Object.fromEntries(named))
      },
      { parse: 'none' },
    )
  }
  return app
}

function createRoute(route: AdminRoute, services: AdminPlaneServices) {
  const check = compileCheck(route)
  const secure = services.publicBaseUrl?.startsWith('https:') === true
  const cookieName = secure ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE

  async function handle(request: Request, params: Record<string, string>, requestId: string) {
    const { headers } = request
    let caller = await callerOf(request, requestId)
    let text = ''
    if (UNSAFE.has(route.method)) {
      if (caller?.kind !== 'api_key') requireSameOrigin(request, services.publicBaseUrl)
      text = await readBody(request, services.bodyLimits)
      // A body may take half a minute, and who sends it may have been shut out meanwhile.
      caller = await callerOf(request, requestId)
    }
    const reply = new Headers({ 'cache-control': 'no-store' })
    if (!saysNothing(text)) requireJson(headers)
    services.keepOpen(request)
    const call: AdminCall<Audience, unknown, unknown, unknown> = {
      requestId,
      caller,
      params: check.params(params),
      query: check.query(urlOf(request)),
      body: check.body(text),
      headers,
      address: services.address(request),
      secure,
      reply,
    }
    const result = await route.handle(call as Parameters<typeof route.handle>[0])
    reply.set('x-request-id', requestId)
    const status = route.status ?? 200
    if (status === 204) return new Response(null, { status, headers: reply })
    reply.set('content-type', route.contentType ?? JSON_TYPE)
    const body =
      route.contentType === undefined
        ? JSON.stringify({ data: result, meta: { generated_at: new Date().toISOString() } })
        : typeof result === 'string'
          ? result
          : await streamedText(result as AsyncIterable<string>, (error) =>
              services.fault(`${route.method} ${route.path} broke off`, error, requestId),
            )
    return new Response(body, { status, headers: reply })
  }

  async function sessionOf(request: Request): Promise<SessionCaller | undefined> {
    for (const token of cookieValues(request.headers, cookieName)) {
      const session = await services.sessions?.find(token)
      if (session === undefined) continue
      const userAgent = request.headers.get('user-agent') ?? undefined
      return { ...session, address: services.address(request), userAgent }
    }
    return undefined
  }

  async function callerOf(request: Request, requestId: string): Promise<CallerOf[Audience]> {
    const session = await sessionOf(request)
    if (route.audience === 'anyone') return session
    if (route.audience === 'me' && session === undefined && showsKey(request.headers)) {
      const key = presentedKey((name) => request.headers.get(name))
      const principal = await services.identity.authenticate(key, {
        requestId,
        header: (name) => request.headers.get(name),
        address: () => services.address(request),
      })
      services.accounting?.checkOwner(principal)
      return { kind: 'api_key', principal }
    }
    if (session === undefined) {
      throw new GatewayError(
        'session_required',
        route.audience === 'me'
          ? 'sign in at POST /api/v1/auth/login, or send an API key'
          : 'sign in at POST /api/v1/auth/login',
      )
    }
    if (route.audience === 'platform_admin' && session.role !== 'platform_admin') {
      throw new GatewayError('insufficient_privileges', 'this is for platform admins')
    }
    return session
  }

  return async function answer(request: Request, params: Record<string, string>) {
    let requestId = newRequestId()
    try {
      requestId = callersRequestId(request.headers) ?? requestId
      return await handle(request, params, requestId)
    } catch (error) {
      if (error instanceof GatewayError) return errorResponse(error, requestId)
      const away = storeFault(error)
      if (away !== undefined) {
        return errorResponse(new GatewayError('store_unavailable', away), requestId)
      }
      services.fault(`${route.method} ${route.path} failed`, error, requestId)
      return errorResponse(internalError(error), requestId)
    }
  }
}

/** By the codes of the driver, the operating system and Postgres itself. */
const AWAY =
  /^(CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|E(CONN(REFUSED|RESET)|PIPE|TIMEDOUT)|57P0[123]|08...|53300)$/

/** What the database cannot do at the moment; undefined: the error is another one. */
function storeFault(error: unknown): string | undefined {
  const { code, severity, cause } = (error ?? {}) as Partial<Record<string, unknown>>
  // A limit that is set for the role or the database: of a statement, or of the wait for a lock.
  if (code === '57014' || code === '55P03') return 'the database took too long'
  // A standby, or a primary that has become one.
  if (code === '25006') return 'the database takes no changes at the moment'
  // Postgres ends the connection with it, or never opens one.
  const ended = severity === 'FATAL' || severity === 'PANIC'
  if (ended || (typeof code === 'string' && AWAY.test(code))) {
    return 'the database cannot be reached'
  }
  return cause === undefined ? undefined : storeFault(cause)
}

function showsKey(headers: Headers): boolean {
  return ['authorization', 'x-api-key', 'x-gateway-api-key'].some((name) => headers.has(name))
}

function requireJson(headers: Headers): void {
  const type = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/json') return
  throw new GatewayError('invalid_request', 'content-type: must be application/json')
}

/** A page of another site can make a browser send a request, but not say that it comes from here. */
function requireSameOrigin({ headers }: Request, publicBaseUrl: string | undefined): void {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const host = headers.get('host')
  const own = [`http://${host}`, `https://${host}`]
  if (publicBaseUrl !== undefined) own.push(new URL(publicBaseUrl).origin)
  const sameOrigin = origin === null ? site === 'same-origin' : own.includes(origin)
  if (sameOrigin && (site === null || site === 'same-origin')) return
  throw new GatewayError(
    'csrf_rejected',
    origin === null && site === null
      ? "send the gateway's own address in an Origin header, as a browser does"
      : 'the request comes from another site',
  )
}
