import {
  CheckFailure,
  type CheckFailureReason,
  type CheckVerdict,
  type ManagedCheck,
} from 'model-gateway/guardrail'
import { isJsonObject, type Secret } from 'model-gateway/plugin'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Calls a service for each text. Error messages never contain the text or the key. */
export function createCheck(url: string, apiKey: Secret): ManagedCheck {
  async function ask(
    body: string,
    signal: AbortSignal,
  ): Promise<[status: number, body: ArrayBuffer]> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${await apiKey.revealCurrent()}`,
        },
        body,
        redirect: 'manual',
        signal,
      })
      return [response.status, await response.arrayBuffer()]
    } catch {
      if (signal.aborted) throw failure('managed.timeout', 'did not answer in time')
      throw failure('managed.unavailable', 'could not be reached')
    }
  }

  return {
    async evaluate({ phase, text, signal }) {
      const [status, answer] = await ask(JSON.stringify({ phase, text }), signal)
      if (status !== 200) throw failure(reasonOf(status), `answered with status ${status}`)
      return verdictOf(answer)
    },
  }
}

/** `{"verdict": "allow"}`, `{"verdict": "block"}`, `{"verdict": "replace", "text": "…"}` */
function verdictOf(answer: ArrayBuffer): CheckVerdict {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(answer))
  } catch {
    throw failure('managed.malformed_response', 'did not answer with JSON')
  }
  const { verdict, text } = isJsonObject(value) ? value : {}
  if (verdict === 'allow') return { action: 'allow' }
  if (verdict === 'block') return { action: 'deny', reasonCode: 'sample_name.blocked' }
  if (verdict === 'replace' && typeof text === 'string') return { action: 'transformed', text }
  throw failure('managed.malformed_response', 'did not return a verdict')
}

function reasonOf(status: number): CheckFailureReason {
  if (status === 401 || status === 403) return 'managed.access_denied'
  return status === 429 ? 'managed.rate_limited' : 'managed.unavailable'
}

function failure(reason: CheckFailureReason, what: string): CheckFailure {
  return new CheckFailure(reason, `the sample-name service ${what}`)
}
