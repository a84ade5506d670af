import { CheckFailure, type CheckFailureReason, type ManagedCheck } from 'model-gateway/guardrail'
import type { Clock, Secret } from 'model-gateway/plugin'
import { verdictOf } from './findings.ts'
import { signatureOf } from './signature.ts'

export interface CheckSettings {
  readonly url: string
  readonly key_id: string
  readonly signing_key: Secret
  readonly max_characters: number
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Asks the service about each text. Failure messages never quote the text or the key. */
export function createCheck(settings: CheckSettings, clock: Clock): ManagedCheck {
  const { url, key_id, signing_key, max_characters } = settings

  async function headersOf(body: string): Promise<Record<string, string>> {
    const time = Math.floor(clock.now().getTime() / 1000)
    const key = await signing_key.revealCurrent()
    return {
      'content-type': 'application/json',
      'x-redactor-key': key_id,
      'x-redactor-time': String(time),
      'x-redactor-signature': signatureOf({ time, body }, key),
    }
  }

  async function ask(body: string, signal: AbortSignal) {
    const headers = await headersOf(body)
    try {
      // Redirects are not followed, because they could send a signed text elsewhere.
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal,
      })
      return { status: response.status, answer: await response.arrayBuffer() }
    } catch {
      if (signal.aborted) throw failure('managed.timeout', 'did not answer in time')
      throw failure('managed.unavailable', 'could not be reached')
    }
  }

  return {
    async evaluate({ phase, text, signal }) {
      if (text.length > max_characters) {
        throw failure('managed.content_too_large', `accepts at most ${max_characters} characters`)
      }
      const { status, answer } = await ask(JSON.stringify({ phase, text }), signal)
      if (status !== 200) throw failure(reasonOf(status), `answered with status ${status}`)
      const verdict = verdictOf(parsed(answer), text)
      if (verdict === undefined)
        throw failure('managed.malformed_response', 'returned an invalid reply')
      return verdict
    },
  }
}

function parsed(answer: ArrayBuffer): unknown {
  try {
    return JSON.parse(utf8.decode(answer))
  } catch {
    return undefined
  }
}

function reasonOf(status: number): CheckFailureReason {
  if (status === 401 || status === 403) return 'managed.access_denied'
  if (status === 413) return 'managed.content_too_large'
  return status === 429 ? 'managed.rate_limited' : 'managed.unavailable'
}

function failure(reason: CheckFailureReason, what: string): CheckFailure {
  return new CheckFailure(reason, `the redactor ${what}`)
}
