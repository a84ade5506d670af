import {
  type GatewayError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from 'model-gateway/plugin'
import { type EgressResponse, upstreamHttpError } from 'model-gateway/provider'
import { readErrorWords } from 'model-gateway/wire'
import type { Redact } from './redact.ts'

/** As much of an error body as is read to find its message. */
const ERROR_BODY_LIMIT = 64 * 1024

/**
 * What to answer to an upstream's error reply: its status, and its own words when the body has some.
 */
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

/** Google says of a wrong API key that the request is wrong, with the reason among the details. */
function refusesKey(body: JsonValue | undefined): boolean {
  const owner = Array.isArray(body) ? body[0] : body
  const error = isJsonObject(owner) ? owner.error : undefined
  const details = isJsonObject(error) ? error.details : undefined
  return (
    Array.isArray(details) &&
    details.some((detail) => isJsonObject(detail) && detail.reason === 'API_KEY_INVALID')
  )
}

/** What Azure says of a prompt that its filter refused, which clients read the verdicts from. */
function innerErrorOf(body: JsonValue | undefined, redact: Redact): JsonObject | undefined {
  const error = isJsonObject(body) ? body.error : undefined
  if (!isJsonObject(error)) return undefined
  const name = ['innererror', 'inner_error'].find((each) => isJsonObject(error[each]))
  if (name === undefined) return undefined
  const text = JSON.stringify(error[name])
  return redact(text) === text ? { [name]: error[name] } : undefined
}

/** What would be masked is not a word. */
function unlessSecret(word: string | undefined, redact: Redact): string | undefined {
  return word !== undefined && redact(word) === word ? word : undefined
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

/** The error as JSON; some upstreams write it as an event when the call was to be streamed. */
function parse(text: string): JsonValue | undefined {
  const event = /^data: ?(.*)$/m.exec(text)
  try {
    const body = JSON.parse(event?.[1] ?? text) as JsonValue
    return typeof body === 'object' && body !== null ? body : undefined
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
