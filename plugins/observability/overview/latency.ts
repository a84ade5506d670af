/** Bins of a latency roll-up in a factor of two. */
const BINS_PER_DOUBLING = 4

/** How many successes there were in each bin. */
export type LatencyBins = ReadonlyMap<number, number>

/**
 * The latency in milliseconds that a share of the successes did not exceed, to within a fifth;
 * null when there were none.
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

/** Of the bins of several, the same in all. */
export function addBin(bins: Map<number, number>, bin: number, count: number): void {
  bins.set(bin, (bins.get(bin) ?? 0) + count)
}
