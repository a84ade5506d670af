import type { JsonObject } from './json.ts'
import { maskCredentials } from './key-forms.ts'
import type { Usage } from './usage.ts'

export type ErrorType =
  | 'authentication_error'
  | 'permission_error'
  | 'guardrail_error'
  | 'budget_error'
  | 'invalid_request_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'routing_error'
  | 'upstream_error'
  | 'store_error'
  | 'internal_error'

/** Every error the gateway answers with: its default HTTP status and its type. */
const catalogue = {
  missing_authorization_header: [401, 'authentication_error'],
  invalid_authorization_header: [401, 'authentication_error'],
  invalid_api_key_format: [401, 'authentication_error'],
  conflicting_api_key_headers: [401, 'authentication_error'],
  api_key_not_found: [401, 'authentication_error'],
  api_key_revoked: [401, 'authentication_error'],
  api_key_expired: [401, 'authentication_error'],
  api_key_secret_mismatch: [401, 'authentication_error'],
  api_key_owner_inactive: [401, 'authentication_error'],
  session_required: [401, 'authentication_error'],
  invalid_credentials: [401, 'authentication_error'],
  too_many_attempts: [429, 'authentication_error'],
  model_not_granted: [403, 'permission_error'],
  service_account_budget_required: [403, 'permission_error'],
  insufficient_privileges: [403, 'permission_error'],
  mcp_upstream_auth_required: [403, 'permission_error'],
  mcp_tool_not_allowed: [403, 'permission_error'],
  csrf_rejected: [403, 'permission_error'],
  guardrail_denied: [403, 'guardrail_error'],
  guardrail_timeout: [504, 'guardrail_error'],
  budget_exceeded: [429, 'budget_error'],
  invalid_request: [400, 'invalid_request_error'],
  validation_failed: [422, 'invalid_request_error'],
  request_body_too_large: [413, 'invalid_request_error'],
  guarded_response_too_large: [413, 'invalid_request_error'],
  not_found: [404, 'not_found_error'],
  model_not_found: [404, 'not_found_error'],
  conflict: [409, 'conflict_error'],
  no_routes_available: [503, 'routing_error'],
  upstream_timeout: [504, 'upstream_error'],
  upstream_transport: [502, 'upstream_error'],
  upstream_http_error: [502, 'upstream_error'],
  store_unavailable: [503, 'store_error'],
  internal_error: [500, 'internal_error'],
} as const satisfies Record<string, readonly [number, ErrorType]>

/**
 * What is said of an error in `error.gateway_code` and in the log.
 *
 * @example const code: ErrorCode = 'invalid_request'
 */
export type ErrorCode = keyof typeof catalogue

/** What an upstream calls its error; clients act on it. */
export interface UpstreamWords {
  readonly code?: string | undefined
  readonly type?: string | undefined
  /** The member of the request that is wrong. */
  readonly param?: string | undefined
}

export interface GatewayErrorOptions {
  /** From 400 to 599: overrides the catalogue's status. Only `upstream_http_error` needs it. */
  readonly status?: number
  /** Further members of the error object, such as `decision_id`. */
  readonly details?: JsonObject
  /** The caller is told them in the place of `code` and `type`, as far as they are plain words. */
  readonly upstream?: UpstreamWords
  /** Response headers that belong to the error, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
  /** What the upstream had counted before the call failed; it is still charged. */
  readonly usage?: Usage
  /** Billing modifiers in what was sent upstream, such as a service tier: `usage` has their price. */
  readonly billingModifiers?: readonly string[]
  readonly cause?: unknown
}

/**
 * The request is over, for a reason that the caller is told.
 *
 * @example throw new GatewayError('invalid_request', 'size: must be small or large')
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: ErrorCode
  readonly status: number
  readonly type: ErrorType
  readonly details: JsonObject
  readonly upstream: UpstreamWords
  readonly headers: Readonly<Record<string, string>>
  readonly usage: Usage | undefined
  readonly billingModifiers: readonly string[]

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    const { status, type } = errorKind(code)
    this.code = code
    this.status = isErrorStatus(options.status) ? options.status : status
    this.type = type
    this.details = options.details ?? {}
    this.upstream = plainWords(options.upstream ?? {})
    this.headers = options.headers ?? {}
    // What cannot be sent is found here, where it is made, and not when the request has been recorded.
    if (options.details !== undefined) JSON.stringify(options.details)
    if (options.headers !== undefined) new Headers(options.headers)
    this.usage = options.usage
    this.billingModifiers = options.billingModifiers ?? []
  }
}

/** Others would tell the caller that all is well, or cannot be sent. */
function isErrorStatus(status: number | undefined): status is number {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599
}

/** The words of an upstream that are words: no sentence, no web page, no credential. */
export function plainWords({ code, type, param }: UpstreamWords): UpstreamWords {
  return { code: plain(code, WORD), type: plain(type, WORD), param: plain(param, PATH) }
}

const WORD = /^[\w.-]{1,64}$/
const PATH = /^[\w.[\]$'"/-]{1,256}$/

function plain(text: unknown, form: RegExp): string | undefined {
  if (typeof text !== 'string' || !form.test(text)) return undefined
  return maskCredentials(text) === text ? text : undefined
}

/** Longest upstream message that is passed on, in bytes. */
const UPSTREAM_MESSAGE_LIMIT = 2048

/** An upstream's words for the caller: credentials masked, at most 2 KiB. */
export function safeUpstreamMessage(message: string): string {
  const masked = maskCredentials(message)
  const room = new Uint8Array(UPSTREAM_MESSAGE_LIMIT)
  const utf8 = new TextEncoder()
  if (utf8.encodeInto(masked, room).read === masked.length) return masked
  const { read } = utf8.encodeInto(masked, room.subarray(0, -3))
  return `${masked.slice(0, read)}…`
}

/**
 * The gateway's answer to an upstream's error status. 401 and 403 are the operator's fault, not
 * the caller's, and become 502, as does a redirect, which is never followed.
 */
export function upstreamHttpError(
  upstreamStatus: number,
  message: string,
  options: Omit<GatewayErrorOptions, 'status'> = {},
): GatewayError {
  const isCallers =
    isErrorStatus(upstreamStatus) && upstreamStatus !== 401 && upstreamStatus !== 403
  const status = isCallers ? upstreamStatus : 502
  return new GatewayError('upstream_http_error', safeUpstreamMessage(message), {
    ...options,
    status,
    details: { upstream_status: upstreamStatus, ...options.details },
  })
}

/**
 * The status and type that an error code has unless it says otherwise.
 *
 * @example errorKind('budget_exceeded').status // 429
 */
export function errorKind(code: ErrorCode): { readonly status: number; readonly type: ErrorType } {
  if (!Object.hasOwn(catalogue, code)) throw new TypeError(`there is no error code "${code}"`)
  const [status, type] = catalogue[code]
  return { status, type }
}
