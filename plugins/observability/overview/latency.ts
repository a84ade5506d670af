/** Bins of a latency roll-up per doubling of the latency. */
const BINS_PER_DOUBLING = 4

/** Number of successful requests per bin. */
export type LatencyBins = ReadonlyMap<number, number>

/**
 * The percentile of the latency in milliseconds, accurate to 20 %; null without successful
 * requests.
 */
export function percentile(bins: LatencyBins, share: number): number | null {
  const sorted = [...bins].filter(([bin]) => bin >= 0).sort(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, count]) => sum + count, 0)
  let before = 0
  for (const [bin, count] of sorted) {
    if (before + count >= share * total) {
      const within = Math.max(0, share * total - before - 0.5) / count
      return Math.round(2 ** ((bin + within) / BINS_PER_DOUBLING))
    }
    before += count
  }
  return null
}

/** Adds a count to a bin. */
export function addBin(bins: Map<number, number>, bin: number, count: number): void {
  bins.set(bin, (bins.get(bin) ?? 0) + count)
}
