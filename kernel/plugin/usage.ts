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
  /** Tokens in the buckets that are no text, and may have prices of their own. Absent: none. */
  readonly parts?: Readonly<Partial<Record<UsagePart, number>>>
  /** How often each tool was used that the upstream runs itself, such as `web_search`. Absent: none. */
  readonly uses?: Readonly<Record<string, number>>
  /**
   * The service tier that the upstream says it served in; `default` is its usual one. What else changes
   * the price follows it: `default+inference_geo=us`. Absent: not said.
   */
  readonly tier?: string
  /** What the seller says that the call costs: the sum of these decimals, in USD. Absent: not said. */
  readonly statedUsd?: readonly string[]
  /** Why the counters cannot be trusted; such a call is priced as `legacy_estimated`. */
  readonly doubt?: string
}

/** Tokens that are no text: of uncached input, of input that was read from a cache, of output. */
export type UsagePart = `${'input' | 'cached' | 'output'}_${'audio' | 'image' | 'video'}`
