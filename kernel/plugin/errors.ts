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

/** The upstream's own code and type; clients act on them. */
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
  /** Sent to the caller instead of `code` and `type`, if they are plain words. */
  readonly upstream?: UpstreamWords
  /** Response headers that belong to the error, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Usage that the upstream counted before the call failed; it is still charged. */
  readonly usage?: Usage
  /** Billing modifiers of the upstream request, such as a service tier, to price `usage`. */
  readonly billingModifiers?: readonly string[]
  readonly cause?: unknown
}

/**
 * Ends the request with an error for the caller.
 *
 * @example throw new GatewayError('invalid_request', 'size: must be small or large')
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly #kind: ErrorKind
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
    this.#kind = errorKind(error)
    const { code, status, type } = this.#kind
    this.code = code
    this.status = isErrorStatus(options.status) ? options.status : status
    this.type = type
    this.details = options.details ?? {}
    this.upstream = plainWords(options.upstream ?? {})
    this.headers = options.headers ?? {}
    // Checked here, where the error is created, and not later when it is sent.
    if (options.details !== undefined) JSON.stringify(options.details)
    if (options.headers !== undefined) new Headers(options.headers)
    this.usage = options.usage
    this.billingModifiers = options.billingModifiers ?? []
  }

  /** For throwing it again with other details. A getter, so that logs do not print it. */
  get kind(): ErrorKind {
    return this.#kind
  }
}

/** Other statuses would mean success or cannot be sent. */
function isErrorStatus(status: number | undefined): status is number {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599
}

/** An upstream's code or type if it is a plain word: not a sentence, web page or credential. */
export function plainWords({ code, type, param }: UpstreamWords): UpstreamWords {
  return { code: plain(code, WORD), type: plain(type, WORD), param: plain(param, PATH) }
}

const WORD = /^[\w.-]{1,64}$/
const PATH = /^[\w.[\]$'"/-]{1,256}$/

function plain(text: unknown, form: RegExp): string | undefined {
  if (typeof text !== 'string' || !form.test(text)) return undefined
  return maskCredentials(text) === text ? text : undefined
}

/** Maximum length of an upstream message that is passed on, in bytes. */
const UPSTREAM_MESSAGE_LIMIT = 2048

/** Returns an upstream's message for the caller: credentials masked, at most 2 KiB. */
export function safeUpstreamMessage(message: string): string {
  const masked = maskCredentials(message)
  const room = new Uint8Array(UPSTREAM_MESSAGE_LIMIT)
  const utf8 = new TextEncoder()
  if (utf8.encodeInto(masked, room).read === masked.length) return masked
  const { read } = utf8.encodeInto(masked, room.subarray(0, -3))
  return `${masked.slice(0, read)}…`
}

/**
 * Returns the error for an upstream's error status. 401 and 403 become 502, because the operator's
 * credentials are at fault, and so do redirects, which are never followed.
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
