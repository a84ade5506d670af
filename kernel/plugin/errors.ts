import errors from './errors.json'
import type { JsonObject } from './json.ts'
import { maskCredentials } from './key-forms.ts'
import type { Usage } from './usage.ts'

/**
 * An error that the gateway answers with. `when` and `fix` are for docs/errors.md.
 *
 * @example errors.rate_limit_exceeded.status // 429
 */
export interface ErrorKind {
  readonly code: string
  readonly status: number
  readonly type: string
  readonly when: string
  readonly fix: string
}

/**
 * The errors of a plugin: its manifest lists them, and `GatewayError` takes one.
 *
 * @example
 * const errors = defineErrors({
 *   rate_limit_exceeded: { status: 429, type: 'rate_limit_error', when: 'too many calls', fix: 'wait' },
 * })
 * throw new GatewayError(errors.rate_limit_exceeded, 'at most 60 calls a minute')
 */
export function defineErrors<C extends string>(
  catalogue: Readonly<Record<C, Omit<ErrorKind, 'code'>>>,
): { readonly [code in C]: ErrorKind } {
  const entries = Object.entries<Omit<ErrorKind, 'code'>>(catalogue)
  return Object.fromEntries(entries.map(([code, kind]) => [code, { code, ...kind }])) as never
}

export const kernelErrors = defineErrors(errors)

/**
 * An error that any plugin may answer with: `error.gateway_code`, and the log, say it.
 *
 * @example const code: ErrorCode = 'invalid_request'
 */
export type ErrorCode = keyof typeof kernelErrors

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
  readonly kind: ErrorKind
  readonly code: string
  readonly status: number
  readonly type: string
  readonly details: JsonObject
  readonly upstream: UpstreamWords
  readonly headers: Readonly<Record<string, string>>
  readonly usage: Usage | undefined
  readonly billingModifiers: readonly string[]

  constructor(error: ErrorCode | ErrorKind, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = errorKind(error)
    const { code, status, type } = this.kind
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
 * What is known of an error: of the gateway, by its code, or of a plugin.
 *
 * @example errorKind('invalid_request').status // 400
 */
export function errorKind(error: ErrorCode | ErrorKind): ErrorKind {
  if (typeof error === 'object') return error
  if (Object.hasOwn(kernelErrors, error)) return kernelErrors[error]
  throw new TypeError(`"${error}" is not an error code: plugins define theirs by defineErrors`)
}
