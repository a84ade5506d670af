import {
  type GatewayError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from 'model-gateway/plugin'
import { type EgressResponse, safeUpstreamMessage, upstreamHttpError } from 'model-gateway/provider'
import type { Redact } from './redact.ts'

/** As much of an error body as is read to find its message. */
const ERROR_BODY_LIMIT = 64 * 1024

/** Whether and when to try again. Official clients go by all three. */
const RETRY_HEADERS = ['retry-after', 'retry-after-ms', 'x-should-retry'] as const

/** Codes are one word: numbers repeat the status, and anything else may be a text. */
const CODE = /^[A-Za-z_][\w.-]{0,63}$/

/**
 * What to answer to an upstream's error reply: its own words and code when the body has some, its
 * status, and when to try again.
 */
export async function readUpstreamError(
  response: Pick<EgressResponse, 'status' | 'headers' | 'body'>,
  redact: Redact,
): Promise<GatewayError> {
  const { status } = response
  const text = await readStart(response)
  const message =
    status < 400
      ? `the upstream answered with status ${status}, which is not followed`
      : (errorMessage(text) ??
        awsErrorType(response.headers) ??
        `the upstream answered with status ${status}`)
  const headers: Record<string, string> = {}
  for (const name of RETRY_HEADERS) {
    const value = response.headers.get(name)
    if (value === null || !/^[\x20-\x7e]{1,64}$/.test(value)) continue
    if (redact(value) === value) headers[name] = value
  }
  const code = safeUpstreamMessage(redact(errorCode(text) ?? awsErrorType(response.headers) ?? ''))
  // What was masked is no code any more.
  const details: JsonObject = CODE.test(code) ? { upstream_code: code } : {}
  return upstreamHttpError(status, redact(message), { headers, details })
}

/**
 * Whether an error reply says that the credentials are no good, rather than that they do not
 * suffice: then another set of them may be.
 */
export function refusesCredentials({ status, headers }: EgressResponse): boolean {
  const type = awsErrorType(headers)
  return (
    status === 401 || (status === 403 && type !== undefined && !type.startsWith('AccessDenied'))
  )
}

/** The name of an AWS error: `ThrottlingException`, also when a URL follows it. */
function awsErrorType(headers: Headers): string | undefined {
  return headers.get('x-amzn-errortype')?.match(/^[A-Za-z]{1,64}/)?.[0]
}

/**
 * The message in an error body: OpenAI, Anthropic and Google `{error: {message}}` (Google also
 * inside an array), `{error: "…"}`, Bedrock `{message}` or `{Message}`, FastAPI `{detail: "…"}` or
 * a list of faults, which Mistral has in `message`. Anything else, web pages above all, has none.
 */
export function errorMessage(text: string): string | undefined {
  const body = readError(text)
  if (body === undefined) return undefined
  const { error, message } = body
  const candidates = [
    isJsonObject(error) ? error.message : error,
    message,
    body.Message,
    body.detail,
    faultsOf(body.detail),
    faultsOf(isJsonObject(message) ? message.detail : message),
  ]
  return candidates.find(
    (candidate): candidate is string => typeof candidate === 'string' && candidate.trim() !== '',
  )
}

/** What is wrong with each field, without the value that the caller sent. */
function faultsOf(list: JsonValue | undefined): string | undefined {
  if (!Array.isArray(list)) return undefined
  const faults = list.filter((fault) => isJsonObject(fault))
  return faults
    .filter(({ msg }) => typeof msg === 'string')
    .map(({ loc, msg }) => (Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : `${msg}`))
    .join('; ')
}

/** The code in an error body, under the name that OpenAI, Anthropic or Google has for it. */
function errorCode(text: string): string | undefined {
  const error = readError(text)?.error
  if (!isJsonObject(error)) return undefined
  return [error.code, error.type, error.status].find(
    (candidate): candidate is string => typeof candidate === 'string' && CODE.test(candidate),
  )
}

/** The error as JSON; some upstreams write it as an event when the call was to be streamed. */
function readError(text: string): JsonObject | undefined {
  const event = /^data: ?(.*)$/m.exec(text)
  try {
    const body: unknown = JSON.parse(event?.[1] ?? text)
    const first: unknown = Array.isArray(body) ? body[0] : body
    return isJsonObject(first) ? first : undefined
  } catch {
    return undefined
  }
}

/** The beginning of the body; what was read when the upstream breaks off. */
async function readStart(response: Pick<EgressResponse, 'body'>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    // Leaving the loop cancels the rest.
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length >= ERROR_BODY_LIMIT) break
    }
  } catch {
    // The status is known, and says more than the broken connection.
  }
  return text
}
