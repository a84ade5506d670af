const FILTERED: ReadonlySet<string> = new Set([
  'SAFETY',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'RECITATION',
  'SPII',
  'MODEL_ARMOR',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

/** Ends after which the function calls of a candidate are not to be trusted. */
const SPOILED: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'LANGUAGE',
  'OTHER',
])

export interface Ending<Call> {
  readonly finishReason: 'stop' | 'length' | 'content_filter' | 'tool_calls'
  /** The calls that stand. */
  readonly calls: readonly Call[]
}

/** How a candidate that ended for this reason, with these calls in it, ends as a choice. */
export function endingOf<Call>(reason: string | undefined, calls: readonly Call[]): Ending<Call> {
  if (reason !== undefined && SPOILED.has(reason)) return { finishReason: 'stop', calls: [] }
  if (calls.length > 0) return { finishReason: 'tool_calls', calls }
  if (reason === 'MAX_TOKENS') return { finishReason: 'length', calls }
  const filtered = reason !== undefined && FILTERED.has(reason)
  return { finishReason: filtered ? 'content_filter' : 'stop', calls }
}
