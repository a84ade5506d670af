import { GatewayError } from 'model-gateway/plugin'
import { safeUpstreamMessage } from 'model-gateway/provider'

const FILTERED: ReadonlySet<string> = new Set([
  'SAFETY',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'RECITATION',
  'SPII',
  'MODEL_ARMOR',
  'JAILBREAK',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

/** The model failed: the text so far is not an answer. */
const FAILED: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'NO_IMAGE',
])

/** Finish reasons that say nothing about earlier text, but make calls unreliable. */
const VAGUE: ReadonlySet<string> = new Set(['OTHER', 'LANGUAGE', 'IMAGE_OTHER'])

export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls'

/** The content of a candidate, as far as it affects the finish reason. */
export interface Held {
  readonly calls: number
  /** Content that the caller can see: text, media, calls. */
  readonly anything: boolean
}

/**
 * The finish reason for a choice; undefined if the model failed, so that the caller gets an error
 * instead of an empty answer.
 */
export function endingOf(reason: string | undefined, held: Held): FinishReason | undefined {
  if (reason !== undefined && FAILED.has(reason)) return undefined
  if (reason !== undefined && VAGUE.has(reason)) {
    return held.anything && held.calls === 0 ? 'stop' : undefined
  }
  if (held.calls > 0) return 'tool_calls'
  if (reason === 'MAX_TOKENS') return 'length'
  if (reason !== undefined && FILTERED.has(reason)) return 'content_filter'
  // Unknown reasons may be good ones, if there is an answer.
  return reason === 'STOP' || held.anything ? 'stop' : undefined
}

/** The error message for a failed candidate. */
export function failureMessage(reason: string | undefined, finishMessage: unknown): string {
  const words =
    typeof finishMessage === 'string' && finishMessage !== '' ? `: ${finishMessage}` : ''
  return `the model ended its answer with ${reason ?? 'no reason'}${words}`
}

/** The error of a buffered reply whose candidate failed. 502, because a retry may work. */
export function failedCandidate(reason: string | undefined, finishMessage: unknown): GatewayError {
  const message = safeUpstreamMessage(failureMessage(reason, finishMessage))
  return new GatewayError('upstream_http_error', message, {
    details: { upstream_code: reason ?? 'UNKNOWN' },
  })
}
