import {
  type GatewayError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from 'model-gateway/plugin'
import { type EgressResponse, upstreamHttpError } from 'model-gateway/provider'
import { readErrorWords } from 'model-gateway/wire'
import type { Redact } from './redact.ts'

/** Maximum bytes of an error body that are read to find its message. */
const ERROR_BODY_LIMIT = 64 * 1024

/** The error for an upstream's error reply: its status, and its message if it has one. */
export async function readUpstreamError(
  response: Pick<EgressResponse, 'status' | 'headers' | 'body'>,
  redact: Redact,
): Promise<GatewayError> {
  const body = parse(await readStart(response))
  const status = refusesKey(body) ? 401 : response.status
  const { message, ...words } = readErrorWords(body)
  const stated = awsErrorType(response.headers)
  const told =
    status < 400
      ? `the upstream answered with status ${status}, which is not followed`
      : (message ?? stated ?? `the upstream answered with status ${status}`)
  const upstream = {
    code: unlessSecret(stated ?? words.code, redact),
    type: unlessSecret(words.type, redact),
    param: unlessSecret(words.param, redact),
  }
  const details = innerErrorOf(body, redact)
  return upstreamHttpError(status, redact(told), { upstream, ...(details && { details }) })
}

/** Google reports a wrong API key as an invalid request, with the reason in the details. */
function refusesKey(body: JsonValue | undefined): boolean {
  const owner = Array.isArray(body) ? body[0] : body
  const error = isJsonObject(owner) ? owner.error : undefined
  const details = isJsonObject(error) ? error.details : undefined
  return (
    Array.isArray(details) &&
    details.some((detail) => isJsonObject(detail) && detail.reason === 'API_KEY_INVALID')
  )
}

/** Azure's report on a prompt that its filter refused; clients read the verdicts from it. */
function innerErrorOf(body: JsonValue | undefined, redact: Redact): JsonObject | undefined {
  const error = isJsonObject(body) ? body.error : undefined
  if (!isJsonObject(error)) return undefined
  const name = ['innererror', 'inner_error'].find((each) => isJsonObject(error[each]))
  if (name === undefined) return undefined
  const text = JSON.stringify(error[name])
  return redact(text) === text ? { [name]: error[name] } : undefined
}

/** The word, unless it contains a secret. */
function unlessSecret(word: string | undefined, redact: Redact): string | undefined {
  return word !== undefined && redact(word) === word ? word : undefined
}

/**
 * Whether the credentials are invalid, rather than lacking permission: then other credentials may
 * work.
 */
export function refusesCredentials({ status, headers }: EgressResponse): boolean {
  const type = awsErrorType(headers)
  return (
    status === 401 || (status === 403 && type !== undefined && !type.startsWith('AccessDenied'))
  )
}

/** The name of an AWS error: `ThrottlingException`, also if a URL follows it. */
function awsErrorType(headers: Headers): string | undefined {
  return headers.get('x-amzn-errortype')?.match(/^[A-Za-z]{1,64}/)?.[0]
}

/** The error as JSON; some upstreams send it as an event if the call was streamed. */
function parse(text: string): JsonValue | undefined {
  const event = /^data: ?(.*)$/m.exec(text)
  try {
    const body = JSON.parse(event?.[1] ?? text) as JsonValue
    return typeof body === 'object' && body !== null ? body : undefined
  } catch {
    return undefined
  }
}

/** The start of the body; if the connection fails, the bytes so far. */
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
    // The status is more useful than the connection error.
  }
  return text
}
