import { setTimeout as pause } from 'node:timers/promises'
import {
  CheckFailure,
  type CheckFailureReason,
  type CheckVerdict,
  type GuardPhase,
} from 'model-gateway/guardrail'
import { inTime, isJsonObject, type JsonObject } from 'model-gateway/plugin'

type Headers = Readonly<Record<string, string>>

/** The POST without credentials, for credentials that depend on it, such as a signature. */
interface UnauthenticatedRequest {
  readonly url: string
  readonly headers: Headers
  readonly body: string
}

export interface ManagedService {
  /** The name of the service for operators; every message begins with it. */
  readonly name: string
  readonly maxRetries: number
  /** The credential headers of one attempt. Its errors must not contain secrets. */
  credentials(request: UnauthenticatedRequest): Promise<Headers>
  /** Called with credentials that the service rejected; `error` is the service's error name. */
  refused?(credentials: Headers, error: string | undefined): void
}

/** Sends one question to a service. Throws CheckFailure. */
export type Ask = (url: string, question: JsonObject, signal: AbortSignal) => Promise<JsonObject>

export const allow: CheckVerdict = { action: 'allow' }
export const deny: CheckVerdict = { action: 'deny', reasonCode: 'managed.denied' }

/** Nothing to judge; the services refuse to. */
export function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** Whether the content goes to a model or a tool; other phases have its output. */
export function isInput(phase: GuardPhase): boolean {
  return phase === 'prompt' || phase === 'mcp_call'
}

/** Maximum size of a reply; the services never send longer ones. */
const REPLY_BYTES = 4 * 1024 * 1024

/** Wait before the first retry; it doubles for each further one. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

type Outcome =
  | { readonly reply: JsonObject }
  | { readonly failure: CheckFailure; readonly again: boolean }

/**
 * Returns a function that POSTs JSON to a service. It retries after 429, 5xx and network failures
 * until the signal aborts, and does not follow redirects. Errors contain nothing of the response
 * body except the service's error name.
 */
export function createAsk(service: ManagedService): Ask {
  const failed = (reason: CheckFailureReason, what: string, again = false): Outcome => ({
    failure: new CheckFailure(reason, `${service.name} ${what}`),
    again,
  })

  async function authenticate(request: UnauthenticatedRequest, signal: AbortSignal) {
    const given = await inTime(service.credentials(request), signal)
    if (given === undefined) throw signal.reason
    for (const value of Object.values(given.value)) {
      // Check here, because the error of `fetch` would quote the value.
      if (!/^[\x20-\x7e]*$/.test(value)) {
        throw new Error('the credentials contain characters that are not allowed in a header')
      }
    }
    return given.value
  }

  async function attempt(url: string, body: string, signal: AbortSignal): Promise<Outcome> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'identity',
    }
    let credentials: Headers
    try {
      credentials = await authenticate({ url, headers, body }, signal)
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown'
      return failed('managed.access_denied', `cannot be called without credentials: ${why}`)
    }
    let status: number
    let replyHeaders: globalThis.Headers
    let bytes: Uint8Array | undefined
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, ...credentials },
        body,
        redirect: 'manual',
        signal,
      })
      status = response.status
      replyHeaders = response.headers
      bytes = await readBytes(response)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
      return failed('managed.unavailable', `could not be reached${code}`, true)
    }
    if (status >= 200 && status <= 299) {
      const reply = bytes === undefined ? undefined : parseObject(bytes)
      return reply === undefined
        ? failed('managed.malformed_response', 'did not answer with a JSON object')
        : { reply }
    }
    const name = errorName(replyHeaders, bytes)
    if (status === 401 || status === 403) service.refused?.(credentials, name)
    const retried = status === 429 || status >= 500
    const words = name === undefined ? '' : ` (${name})`
    return failed(reasonOf(status, name), `answered with status ${status}${words}`, retried)
  }

  return async (url, question, signal) => {
    const body = JSON.stringify(question)
    try {
      for (let retries = 0; ; retries++) {
        const outcome = await attempt(url, body, signal)
        if ('reply' in outcome) return outcome.reply
        if (!outcome.again || retries >= service.maxRetries) throw outcome.failure
        const longest = Math.min(FIRST_PAUSE_MS * 2 ** retries, LONGEST_PAUSE_MS)
        await pause(longest * (0.5 + Math.random() / 2), undefined, { signal })
      }
    } catch (error) {
      if (!signal.aborted) throw error
      throw new CheckFailure('managed.timeout', `${service.name} did not answer in time`)
    }
  }
}

/** Error names for an exhausted quota, whatever the status. */
const QUOTA =
  /^(Throttling|ThrottledException|TooManyRequests|ServiceQuotaExceeded|RESOURCE_EXHAUSTED)/

function reasonOf(status: number, name: string | undefined): CheckFailureReason {
  if (status === 429 || (name !== undefined && QUOTA.test(name))) return 'managed.rate_limited'
  if (status === 401 || status === 403) return 'managed.access_denied'
  if (status === 413) return 'managed.content_too_large'
  return 'managed.unavailable'
}

/** The body; `undefined` if it is too long, and the rest is discarded. */
async function readBytes({ body }: Response): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  // Leaving the loop cancels the rest.
  for await (const piece of body ?? []) {
    length += piece.byteLength
    if (length > REPLY_BYTES) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The service's name for the error, such as `ThrottlingException` or `RESOURCE_EXHAUSTED`. */
function errorName(headers: globalThis.Headers, bytes: Uint8Array | undefined): string | undefined {
  const body = bytes === undefined ? undefined : parseObject(bytes)
  const error = body?.error
  const candidates = [
    headers.get('x-amzn-errortype'),
    typeof body?.__type === 'string' ? body.__type.slice(body.__type.indexOf('#') + 1) : undefined,
    isJsonObject(error) ? error.status : undefined,
  ]
  const name = candidates.find((candidate) => typeof candidate === 'string')
  return name?.match(/^[A-Za-z_]{1,64}/)?.[0]
}
