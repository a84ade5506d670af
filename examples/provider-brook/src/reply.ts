import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { upstreamHttpError } from 'model-gateway/provider'
import type { Usage } from 'model-gateway/wire'

/** What stands in every reply, whole or streamed. */
export interface About {
  readonly id: string
  readonly model: string
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A chat completion of the vendor's whole answer. */
export function completionOf(bytes: Uint8Array, about: About): JsonObject {
  const { turn, ended, meter } = parse(decode(bytes))
  const parts = isJsonObject(turn) && Array.isArray(turn.parts) ? turn.parts : undefined
  if (parts === undefined) throw malformed('there is no turn in it')
  let content: string | null = null
  const calls: JsonObject[] = []
  for (const part of parts) {
    const { kind, text, call, action, input } = isJsonObject(part) ? part : {}
    if (kind === 'say' && typeof text === 'string') content = (content ?? '') + text
    else if (kind === 'act' && typeof call === 'string' && typeof action === 'string') {
      const made = { name: action, arguments: JSON.stringify(input ?? {}) }
      calls.push({ id: call, type: 'function', function: made })
    } else throw malformed('there is a part in it that nobody knows')
  }
  const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
  return {
    ...about,
    object: 'chat.completion',
    created: now(),
    choices: [{ index: 0, message, finish_reason: finishOf(ended) }],
    usage: usageOf(meter),
  }
}

interface Meter {
  /** Tokens of the request that were read for the first time. */
  readonly fresh: number
  /** Those that the vendor remembered; it does not count them as fresh. */
  readonly recalled: number
  /** Tokens of the answer, those that were only thought included. */
  readonly written: number
  readonly thought: number
}

/**
 * The vendor's meter. A counter that is absent is 0 at this vendor; one that is no count is a fault
 * of the answer, because a guess here would be a wrong bill.
 */
function readMeter(meter: JsonValue | undefined): Meter {
  if (!isJsonObject(meter)) throw malformed('there is no meter in it')
  const count = (name: string) => {
    const value = meter[name] ?? 0
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    throw malformed(`its meter has no count ${name}`)
  }
  return {
    fresh: count('fresh'),
    recalled: count('recalled'),
    written: count('written'),
    thought: count('thought'),
  }
}

/** Usage as a chat completion has it: cached tokens are part of the prompt's, thoughts of the reply's. */
export function usageOf(meter: JsonValue | undefined): JsonObject {
  const { fresh, recalled, written, thought } = readMeter(meter)
  return {
    prompt_tokens: fresh + recalled,
    completion_tokens: written,
    total_tokens: fresh + recalled + written,
    prompt_tokens_details: { cached_tokens: recalled },
    completion_tokens_details: { reasoning_tokens: thought },
  }
}

/** The same for a call that failed after something was used: it is still charged. */
function chargedUsage(meter: JsonValue | undefined): Usage {
  const { fresh, recalled, written, thought } = readMeter(meter)
  return {
    uncachedInput: fresh,
    cacheRead: recalled,
    cacheWrite: undefined,
    output: written,
    reasoning: thought,
    promptTokens: fresh + recalled,
    totalTokens: fresh + recalled + written,
  }
}

/** The vendor's words without the key, which a vendor may repeat. */
export type Redact = (words: string) => string

/** The words of an error status. */
export function refusal(status: number, bytes: Uint8Array, redact: Redact): GatewayError {
  let words = `the vendor answered with status ${status}`
  let again: JsonValue | undefined
  try {
    const { fault } = parse(decode(bytes))
    if (isJsonObject(fault) && typeof fault.words === 'string') {
      words = redact(fault.words)
      again = fault.again_in
    }
  } catch {
    // A page of a proxy in between; the status says enough.
  }
  const seconds = typeof again === 'number' && again > 0 ? Math.ceil(again) : undefined
  return upstreamHttpError(status, words, {
    ...(seconds !== undefined && { headers: { 'retry-after': String(seconds) } }),
  })
}

/** A fault line within a stream, which may say what was used until then. */
export function brokenOff({ words, meter }: JsonObject, redact: Redact): GatewayError {
  const why = typeof words === 'string' ? redact(words) : 'for no reason that it tells'
  return new GatewayError('upstream_transport', `the vendor broke the stream off: ${why}`, {
    ...(meter !== undefined && { usage: chargedUsage(meter) }),
  })
}

export function finishOf(ended: JsonValue | undefined): string {
  if (ended === 'limit') return 'length'
  if (ended === 'act') return 'tool_calls'
  return ended === 'withheld' ? 'content_filter' : 'stop'
}

/** A JSON object that the vendor sent. */
export function parse(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw malformed('it is not JSON', cause)
  }
  if (!isJsonObject(value)) throw malformed('it is not an object')
  return value
}

export function malformed(why: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_transport', `the vendor's answer cannot be read: ${why}`, {
    cause,
  })
}

export function now(): number {
  return Math.floor(Date.now() / 1000)
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw malformed('it is not UTF-8', cause)
  }
}
