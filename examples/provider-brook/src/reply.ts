import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { upstreamHttpError } from 'model-gateway/provider'
import type { Usage } from 'model-gateway/wire'

/** Fields of each reply, whole or streamed. */
export interface About {
  readonly id: string
  readonly model: string
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The chat completion for a whole reply of the vendor. */
export function completionOf(bytes: Uint8Array, about: About): JsonObject {
  const { turn, ended, meter } = parse(decode(bytes))
  const parts = isJsonObject(turn) && Array.isArray(turn.parts) ? turn.parts : undefined
  if (parts === undefined) throw malformed('turn.parts is missing')
  let content: string | null = null
  const calls: JsonObject[] = []
  for (const part of parts) {
    const { kind, text, call, action, input } = isJsonObject(part) ? part : {}
    if (kind === 'say' && typeof text === 'string') content = (content ?? '') + text
    else if (kind === 'act' && typeof call === 'string' && typeof action === 'string') {
      const made = { name: action, arguments: JSON.stringify(input ?? {}) }
      calls.push({ id: call, type: 'function', function: made })
    } else throw malformed('a part is not "say" or "act"')
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
  /** Input tokens that were not cached. */
  readonly fresh: number
  /** Cached input tokens, not included in `fresh`. */
  readonly recalled: number
  /** Output tokens, reasoning included. */
  readonly written: number
  readonly thought: number
}

/**
 * Reads the vendor's meter. A missing counter is 0 for this vendor. An invalid counter makes the
 * reply malformed, because a guess would be a wrong bill.
 */
function readMeter(meter: JsonValue | undefined): Meter {
  if (!isJsonObject(meter)) throw malformed('meter is missing')
  const count = (name: string) => {
    const value = meter[name] ?? 0
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    throw malformed(`meter.${name} is not a count`)
  }
  return {
    fresh: count('fresh'),
    recalled: count('recalled'),
    written: count('written'),
    thought: count('thought'),
  }
}

/** Usage of a chat completion: prompt tokens include cached ones, output includes reasoning. */
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

/** Usage of a call that failed after it used tokens: it is still charged. */
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

/** Masks the key in a vendor's message, because a vendor may echo it. */
export type Redact = (words: string) => string

/** The error for an error status. */
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
    // Not JSON, for example an error page of a proxy: the status is enough.
  }
  const seconds = typeof again === 'number' && again > 0 ? Math.ceil(again) : undefined
  return upstreamHttpError(status, words, {
    ...(seconds !== undefined && { headers: { 'retry-after': String(seconds) } }),
  })
}

/** The error for a fault line in a stream, with the usage until then if the line has it. */
export function brokenOff({ words, meter }: JsonObject, redact: Redact): GatewayError {
  const why = typeof words === 'string' ? redact(words) : 'no reason given'
  return new GatewayError('upstream_transport', `the vendor aborted the stream: ${why}`, {
    ...(meter !== undefined && { usage: chargedUsage(meter) }),
  })
}

export function finishOf(ended: JsonValue | undefined): string {
  if (ended === 'limit') return 'length'
  if (ended === 'act') return 'tool_calls'
  return ended === 'withheld' ? 'content_filter' : 'stop'
}

/** Parses a JSON object of the vendor. */
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
  return new GatewayError('upstream_transport', `malformed reply of the vendor: ${why}`, {
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
