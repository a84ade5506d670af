/**
 * Usage of a call in tokens, in buckets that never overlap. `undefined` means that the upstream did
 * not report it, which differs from 0.
 */
export interface Usage {
  readonly uncachedInput: number | undefined
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
  /** For pricing: the part of `cacheWrite` that is kept for an hour. Absent: none. */
  readonly cacheWriteHour?: number
  /** All output, including reasoning. */
  readonly output: number | undefined
  /** For information only; part of `output`. */
  readonly reasoning: number | undefined
  /** The sum of the three input buckets, as reported or computed. */
  readonly promptTokens: number | undefined
  readonly totalTokens: number | undefined
  /** Tokens in the buckets that are not text and may have separate prices. Absent: none. */
  readonly parts?: Readonly<Partial<Record<UsagePart, number>>>
  /** Uses of each tool that the upstream runs, such as `web_search`. Absent: none. */
  readonly uses?: Readonly<Record<string, number>>
  /**
   * The reported service tier; `default` is the standard one. Other price factors follow it:
   * `default+inference_geo=us`. Absent: not reported.
   */
  readonly tier?: string
  /** The cost that the seller reports: the sum of these decimals, in USD. Absent: none. */
  readonly statedUsd?: readonly string[]
  /** Why the counters cannot be trusted; such a call is priced as `legacy_estimated`. */
  readonly doubt?: string
}

/** Non-text tokens: of uncached input, of cached input, of output. */
export type UsagePart = `${'input' | 'cached' | 'output'}_${'audio' | 'image' | 'video'}`
