/**
 * What a call used, in tokens, in buckets that never overlap. `undefined` means that the upstream
 * did not say, which is not the same as 0.
 */
export interface Usage {
  readonly uncachedInput: number | undefined
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
  /** For pricing; the part of `cacheWrite` that is kept for an hour. Absent: none. */
  readonly cacheWriteHour?: number
  /** All output, reasoning included. */
  readonly output: number | undefined
  /** For information; already part of `output`. */
  readonly reasoning: number | undefined
  /** The sum of the three input buckets, as the upstream or its sum states it. */
  readonly promptTokens: number | undefined
  readonly totalTokens: number | undefined
  /** What was used that may not cost what text does; its tokens are in the buckets. Absent: nothing. */
  readonly besideText?: readonly BesideText[] | undefined
  /** Why the counters cannot be trusted; such a call is priced as `legacy_estimated`. */
  readonly doubt?: string
}

/** Tokens that are no text, and tools that the upstream runs itself, such as a web search. */
export type BesideText = `${'input' | 'output'}_${'audio' | 'image' | 'video'}` | 'hosted_tool'
