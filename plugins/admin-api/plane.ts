import type { Accounting } from 'model-gateway/accounting'
import type { Door, HttpCall, HttpRoute } from 'model-gateway/http'
import { type Identity, presentedKey } from 'model-gateway/identity'
import { GatewayError, inTime } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { compileCheck, saysNothing } from './check.ts'
import {
  type AdminCall,
  type AdminModule,
  type AdminRoute,
  type AdminSessions,
  type Audience,
  type CallerOf,
  cookieValues,
  SESSION_COOKIE,
  type SessionCaller,
} from './contract.ts'
import { streamedText } from './streamed-text.ts'

export interface AdminPlaneServices {
  readonly modules: readonly AdminModule[]
  /** Absent: sign-in is impossible, and only API keys are accepted. */
  readonly sessions: AdminSessions | undefined
  readonly identity: Pick<Identity, 'authenticate'>
  /** Absent: the gateway has no budgets, and every owner of a key may call. */
  readonly accounting?: Pick<Accounting, 'checkOwner'> | undefined
  readonly door: Pick<Door, 'publicBaseUrl'>
  readonly log: Pick<Logger, 'warn' | 'error'>
  /** Deadline of a route in milliseconds. Default 180 000. */
  readonly deadlineMs?: number
}

/** Longer than a discovery of an MCP server may take. */
const ROUTE_DEADLINE_MS = 180_000
/** Largest body of a request. */
const MAX_BODY_BYTES = 1 << 20
const UNSAFE = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const JSON_TYPE = 'application/json; charset=utf-8'

/** The control plane: audience, same-origin rule, schemas, envelope and errors around each route. */
export function createAdminPlane(services: AdminPlaneServices): readonly HttpRoute[] {
  return services.modules.flatMap(({ id, routes }) =>
    routes.map((route) => createRoute(id, route, services)),
  )
}

function createRoute(module: string, route: AdminRoute, services: AdminPlaneServices): HttpRoute {
  const { publicBaseUrl } = services.door
  const check = compileCheck(route)
  const secure = publicBaseUrl?.startsWith('https:') === true
  const cookieName = secure ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE
  const name = `${route.method} ${route.path}`

  async function answer(incoming: HttpCall): Promise<Response> {
    const { request, requestId } = incoming
    const { headers } = request
    let caller = await callerOf(incoming)
    let text = ''
    if (UNSAFE.has(route.method)) {
      if (caller?.kind !== 'api_key') requireSameOrigin(request, publicBaseUrl)
      text = await incoming.text(MAX_BODY_BYTES)
      // Check again, because reading a body may take half a minute, and the caller may have lost
      // access meanwhile.
      caller = await callerOf(incoming)
    }
    const reply = new Headers({ 'cache-control': 'no-store' })
    if (!saysNothing(text)) requireJson(headers)
    incoming.keepOpen()
    const call: AdminCall<Audience, unknown, unknown, unknown> = {
      requestId,
      caller,
      params: check.params(incoming.params),
      query: check.query(incoming.url()),
      body: check.body(text),
      headers,
      address: incoming.address(),
      secure,
      reply,
    }
    const result = await inDeadline(call as Parameters<typeof route.handle>[0])
    reply.set('x-request-id', requestId)
    const status = route.status ?? 200
    if (status === 204) return new Response(null, { status, headers: reply })
    reply.set('content-type', route.contentType ?? JSON_TYPE)
    const body =
      route.contentType === undefined
        ? JSON.stringify({ data: result, meta: { generated_at: new Date().toISOString() } })
        : typeof result === 'string'
          ? result
          : await streamedText(result as AsyncIterable<string>, (err) =>
              services.log.error(
                { err, request_id: requestId },
                `${name}: streaming the response failed`,
              ),
            )
    return new Response(body, { status, headers: reply })
  }

  /**
   * The result of the route. A route that exceeds the deadline is abandoned and named in the log.
   */
  async function inDeadline(call: Parameters<typeof route.handle>[0]) {
    const { log, deadlineMs = ROUTE_DEADLINE_MS } = services
    const work = (async () => route.handle(call))()
    const done = await inTime(work, deadlineMs)
    if (done !== undefined) return done.value
    const who = `${name} of the admin module "${module}"`
    void work.then(
      () => log.warn(`${who} finished after its deadline`),
      (err) => log.error({ err }, `${who} failed after its deadline`),
    )
    throw new Error(`${who} did not finish within ${deadlineMs} ms`)
  }

  async function sessionOf({ request, address }: HttpCall): Promise<SessionCaller | undefined> {
    for (const token of cookieValues(request.headers, cookieName)) {
      const session = await services.sessions?.find(token)
      if (session === undefined) continue
      const userAgent = request.headers.get('user-agent') ?? undefined
      return { ...session, address: address(), userAgent }
    }
    return undefined
  }

  async function callerOf(incoming: HttpCall): Promise<CallerOf[Audience]> {
    const session = await sessionOf(incoming)
    if (route.audience === 'anyone') return session
    if (route.audience === 'me' && session === undefined && showsKey(incoming.request.headers)) {
      const { requestId, header, address } = incoming
      const shown = { requestId, header, address }
      const principal = await services.identity.authenticate(presentedKey(header), shown)
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
      throw new GatewayError('insufficient_privileges', 'only platform admins may call this route')
    }
    return session
  }

  return {
    method: route.method,
    path: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ownHost: true,
    async handle(incoming) {
      try {
        return await answer(incoming)
      } catch (error) {
        const away = error instanceof GatewayError ? undefined : storeFault(error)
        throw away === undefined ? error : new GatewayError('store_unavailable', away)
      }
    },
  }
}

/** Error codes of the driver, the operating system and Postgres for a lost connection. */
const AWAY =
  /^(CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|E(CONN(REFUSED|RESET)|PIPE|TIMEDOUT)|57P0[123]|08...|53300)$/

/** Why the database is unavailable; undefined for any other error. */
function storeFault(error: unknown): string | undefined {
  const { code, severity, cause } = (error ?? {}) as Partial<Record<string, unknown>>
  // statement_timeout or lock_timeout of the role or the database.
  if (code === '57014' || code === '55P03') return 'the database did not answer in time'
  // A standby, or a primary that has become one.
  if (code === '25006') return 'the database is read-only at the moment'
  // Postgres closes the connection with such an error, or refuses to open one.
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

/** CSRF protection: a page of another site can send a request, but cannot fake its origin. */
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
      ? "the Origin header is missing; send the gateway's own address in it, as a browser does"
      : 'the request comes from another site',
  )
}
