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

/** The model failed: what it said by then is not an answer. */
const FAILED: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'NO_IMAGE',
])

/** Ends that say nothing of the answer before them, but after which calls are not to be trusted. */
const VAGUE: ReadonlySet<string> = new Set(['OTHER', 'LANGUAGE', 'IMAGE_OTHER'])

export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls'

/** What a candidate holds, as far as its end depends on it. */
export interface Held {
  readonly calls: number
  /** Something that the caller can see: text, media, calls. */
  readonly anything: boolean
}

/**
 * How a candidate that ended for this reason ends as a choice; undefined where the model failed, so
 * that the caller gets an error instead of an empty answer.
 */
export function endingOf(reason: string | undefined, held: Held): FinishReason | undefined {
  if (reason !== undefined && FAILED.has(reason)) return undefined
  if (reason !== undefined && VAGUE.has(reason)) {
    return held.anything && held.calls === 0 ? 'stop' : undefined
  }
  if (held.calls > 0) return 'tool_calls'
  if (reason === 'MAX_TOKENS') return 'length'
  if (reason !== undefined && FILTERED.has(reason)) return 'content_filter'
  // Reasons that are not known yet may be good ones, if there is an answer.
  return reason === 'STOP' || held.anything ? 'stop' : undefined
}

/** What a caller reads of a candidate that failed. */
export function failureMessage(reason: string | undefined, finishMessage: unknown): string {
  const words =
    typeof finishMessage === 'string' && finishMessage !== '' ? `: ${finishMessage}` : ''
  return `the model ended its answer with ${reason ?? 'no reason'}${words}`
}

/** The error of a buffered reply whose candidate failed. It may work another time: 502. */
export function failedCandidate(reason: string | undefined, finishMessage: unknown): GatewayError {
  const message = safeUpstreamMessage(failureMessage(reason, finishMessage))
  return new GatewayError('upstream_http_error', message, {
    details: { upstream_code: reason ?? 'UNKNOWN' },
  })
}
