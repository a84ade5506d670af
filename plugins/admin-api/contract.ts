/** The module `model-gateway/admin`, for plugins with routes of the control plane. */
import { type Static, type TObject, type TSchema, type TString, Type } from '@sinclair/typebox'
import type { Principal } from 'model-gateway/identity'
import {
  type ErrorCode,
  type ErrorKind,
  extensionPoint,
  type JsonValue,
  Shape,
  type TransactionSql,
} from 'model-gateway/plugin'
import { AdminModuleShape, adminModuleFault } from './shape.ts'

/** A signed-in user. */
export interface SessionCaller {
  readonly kind: 'session'
  readonly sessionId: string
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly role: 'platform_admin' | 'user'
  /** Address and user agent of the caller, set by the control plane. */
  readonly address?: string | undefined
  readonly userAgent?: string | undefined
}

/** A caller that authenticates with an API key. */
export interface KeyCaller {
  readonly kind: 'api_key'
  readonly principal: Principal
}

/**
 * Who may call a route: anyone; anyone with a session or an API key (`me`); anyone with a session;
 * or a platform admin with a session.
 */
export type Audience = 'anyone' | 'me' | 'session' | 'platform_admin'

export interface CallerOf {
  readonly anyone: SessionCaller | undefined
  readonly me: SessionCaller | KeyCaller
  readonly session: SessionCaller
  readonly platform_admin: SessionCaller
}

/** One request, checked against the route's schemas. */
export interface AdminCall<A extends Audience, P, Q, B> {
  readonly requestId: string
  readonly caller: CallerOf[A]
  readonly params: P
  readonly query: Q
  readonly body: B
  /** The request's own headers. */
  readonly headers: Headers
  /** IP address of the caller, as far as it is known: see `server.trusted_proxies`. */
  readonly address: string | undefined
  /** Whether the browser uses https, here or at a proxy in front. */
  readonly secure: boolean
  /** Headers of the response; the route can add some. */
  readonly reply: Headers
}

export interface AdminRouteSpec<
  A extends Audience,
  P extends TObject,
  Q extends TObject,
  B extends TSchema,
  R extends TSchema,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From the root, with parameters in braces: `/api/v1/admin/users/{user_id}`. */
  readonly path: `/api/v1/${string}`
  readonly audience: A
  /** The group in the API's documentation. */
  readonly tag: string
  /** One line in the API's documentation. */
  readonly summary: string
  readonly params?: P
  /** Values arrive as strings and are converted; unknown names are rejected. */
  readonly query?: Q
  /** Unknown members are rejected: every object has `additionalProperties: false`. */
  readonly body?: B
  /** Whether the body may contain U+0000. Only for bodies that are not stored in the database. */
  readonly allowsNul?: boolean
  /** Status of a success. Default 200. */
  readonly status?: 200 | 201 | 202 | 204
  /** What `handle` returns: the `data` of the JSON answer, or the text of another content type. */
  readonly result: R
  /**
   * Anything but JSON, such as `text/csv; charset=utf-8`; then `result` is a string, and `handle` may
   * return its pieces one by one.
   */
  readonly contentType?: string
  /** Headers of the response by name, with their descriptions. */
  readonly replyHeaders?: Readonly<Record<string, string>>
  /** Error codes of this route, in addition to those of every route of its audience. */
  readonly errors?: readonly (ErrorCode | ErrorKind)[]
  /** Throws GatewayError; anything else becomes `internal_error`. */
  handle(
    call: AdminCall<A, Static<P>, Static<Q>, Static<B>>,
  ): AdminResult<R> | Promise<AdminResult<R>>
}

/**
 * A text may be an async iterable. The gateway asks for the next piece when the caller has read the
 * last one, and stops iterating when the caller disconnects. An error before the first piece
 * becomes an error response; a later error cuts the response off.
 */
type AdminResult<R extends TSchema> =
  | Static<R>
  | (R extends TString ? AsyncIterable<string> : never)

export type AdminRoute = AdminRouteSpec<Audience, TObject, TObject, TSchema, TSchema>

/** Types a route where it is written. */
export function adminRoute<
  A extends Audience,
  R extends TSchema,
  P extends TObject = TObject<Record<never, never>>,
  Q extends TObject = TObject<Record<never, never>>,
  B extends TSchema = TSchema,
>(spec: AdminRouteSpec<A, P, Q, B, R>): AdminRoute {
  return spec as unknown as AdminRoute
}

/** A group of related routes of the control plane. */
export interface AdminModule {
  readonly id: string
  readonly routes: readonly AdminRoute[]
}

/** Finds the caller of a session. */
export interface AdminSessions {
  /**
   * The caller of a session cookie's token; `undefined` if the session does not exist or has ended.
   */
  find(token: string): Promise<SessionCaller | undefined>
}

/** An audit entry: a change by an admin, or another important event. Must not contain secrets. */
export interface AuditEntry {
  /**
   * `undefined`: the operator, through a command or the config file; for a refusal, an unknown
   * caller.
   */
  readonly actor: SessionCaller | undefined
  readonly requestId: string
  /** `user.create`, `api_key.revoke` */
  readonly action: string
  readonly objectKind: string
  readonly objectId: string
  readonly before?: JsonValue
  readonly after?: JsonValue
  /** Address and user agent. Default: those of the actor. */
  readonly address?: string | undefined
  readonly userAgent?: string | undefined
  /** The error code if the action was refused. Default: `success`. */
  readonly outcome?: string
}

export interface AuditTrail {
  /** Writes an entry in the transaction of the change, so that both are committed together. */
  write(sql: TransactionSql, entry: AuditEntry): Promise<void>
  /**
   * Records an event without a change, such as a sign-in, a refusal or the reading of a payload. It
   * is written shortly after, not while the caller waits. Similar events share an entry, so that a
   * flood of them stays small. Does not throw.
   */
  note?(entry: AuditEntry): void
}

/** A budget as an admin states it. */
export interface BudgetStatement {
  readonly cadence: 'daily' | 'weekly' | 'monthly'
  /** A plain decimal. */
  readonly amount_usd: string
  readonly hard_limit: boolean
}

/** Sets the budget of an owner in the transaction that creates the owner. */
export interface BudgetWriter {
  /** Writes the budget as set by the admin, with its audit entry. Throws `validation_failed`. */
  setServiceAccountBudget(
    sql: TransactionSql,
    serviceAccountId: string,
    budget: BudgetStatement,
    by: { readonly actor: SessionCaller; readonly requestId: string },
  ): Promise<void>
  /** Called after the commit: applies the budget in this process. */
  committed(): Promise<void>
}

/** The name of the session cookie, without the `__Host-` prefix that it has on https. */
export const SESSION_COOKIE = 'gateway_session'

/**
 * Maximum number of values of a cookie that are read, because browsers send one for each path and
 * domain.
 */
const MOST_VALUES = 4

/** The first four non-empty values of a cookie, in the order of the request. */
export function cookieValues(headers: Headers, name: string): readonly string[] {
  const values: string[] = []
  for (const pair of headers.get('cookie')?.split(';') ?? []) {
    const [key, value = ''] = pair.split('=', 2)
    if (key?.trim() === name && value.trim() !== '') values.push(value.trim())
    if (values.length === MOST_VALUES) break
  }
  return values
}

/** Query members of every list. */
export const pageQuery = {
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'From 1. Default 1.' }),
  ),
  page_size: Type.Optional(
    Type.Integer({ description: 'Default 100. Values outside 1 to 200 are clamped.' }),
  ),
}

/** The rows that a list's query asks for. */
export function pageOf(query: { page?: number; page_size?: number }) {
  const page = query.page ?? 1
  const pageSize = Math.min(200, Math.max(1, query.page_size ?? 100))
  return { page, page_size: pageSize, offset: (page - 1) * pageSize }
}

/** The `data` of a list. */
export function listOf<T extends TSchema>(item: T) {
  return Type.Object({
    items: Type.Array(item),
    page: Type.Integer(),
    page_size: Type.Integer(),
    total: Type.Integer(),
  })
}

export const adminModules = extensionPoint<AdminModule>('admin_modules', 'many', {
  what: 'admin module',
  key: 'id',
  shape: AdminModuleShape,
  fault: adminModuleFault,
  // The names of parameters do not distinguish routes.
  claims: ({ routes }) =>
    routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
})
export const adminSessions = extensionPoint<AdminSessions>('admin_sessions', 'one', {
  shape: Type.Object({ find: Shape.method() }),
})
export const auditTrail = extensionPoint<AuditTrail>('audit_trail', 'one', {
  shape: Type.Object({ write: Shape.method() }),
})
export const budgetWriter = extensionPoint<BudgetWriter>('budget_writer', 'one')
