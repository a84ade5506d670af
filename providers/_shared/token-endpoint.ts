import { GatewayError, isJsonObject, type JsonObject, Secret } from 'model-gateway/plugin'
import { safeUpstreamMessage } from 'model-gateway/provider'
import { credentialForms, maskForms, readBytes } from 'model-gateway/wire'
import type { Token } from './token-cache.ts'

/** Unix time in milliseconds. */
export type Now = () => number

export interface Answer {
  readonly status: number
  readonly text: string
}

const TOKEN_ENDPOINT_MS = 20_000
/** Maximum response size; tokens have a few kilobytes. */
const MOST_BYTES = 1024 * 1024

/** Default and minimum lifetime of an access token, in seconds. */
const DEFAULT_LIFETIME = 3600
const SHORTEST_LIFETIME = 60

/** Calls an OAuth token endpoint. `fault` makes the error from a message without secrets. */
export function tokenEndpoint(fault: (message: string, cause?: unknown) => GatewayError) {
  async function request(
    who: string,
    url: string,
    timeoutMs: number,
    init: RequestInit,
  ): Promise<Answer> {
    try {
      const response = await fetch(url, {
        ...init,
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      const tooLarge = () => fault(`${who} answered with more than ${MOST_BYTES} bytes`)
      const bytes = await readBytes(response.body, MOST_BYTES, tooLarge)
      return { status: response.status, text: new TextDecoder().decode(bytes) }
    } catch (cause) {
      if (cause instanceof GatewayError) throw cause
      const late = cause instanceof Error && cause.name === 'TimeoutError'
      const what = late ? `did not answer within ${timeoutMs} ms` : 'could not be reached'
      throw fault(`${who} ${what}`, cause)
    }
  }

  function parseObject(text: string, who: string): JsonObject {
    let answer: unknown
    try {
      answer = JSON.parse(text)
    } catch {
      // Without its cause, which may quote a token.
      answer = undefined
    }
    if (!isJsonObject(answer)) throw fault(`${who} did not answer with a JSON object`)
    return answer
  }

  return {
    request,
    parseObject,

    async postForm(url: string, form: Readonly<Record<string, string>>): Promise<JsonObject> {
      const { status, text } = await request('the token endpoint', url, TOKEN_ENDPOINT_MS, {
        method: 'POST',
        body: new URLSearchParams(form),
      })
      if (status !== 200) {
        throw fault(`the token endpoint answered with status ${status}${reason(text, form)}`)
      }
      return parseObject(text, 'the token endpoint')
    },

    accessToken(answer: JsonObject, now: Now): Token {
      const { access_token: value, expires_in: seconds } = answer
      if (typeof value !== 'string' || value === '') {
        throw fault('the response has no access_token')
      }
      const lifetime = typeof seconds === 'number' ? seconds : DEFAULT_LIFETIME
      const expiresAt = now() + Math.max(lifetime, SHORTEST_LIFETIME) * 1000
      return { value: new Secret(value), expiresAt }
    },
  }
}

/** The endpoint's message, if any, with the sent values masked. */
function reason(text: string, form: Readonly<Record<string, string>>): string {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    return ''
  }
  if (!isJsonObject(answer) || typeof answer.error !== 'string') return ''
  const { error, error_description: description } = answer
  const words = typeof description === 'string' ? `${error}, ${description}` : error
  return `: ${safeUpstreamMessage(maskForms(words, credentialForms(Object.values(form))))}`
}
