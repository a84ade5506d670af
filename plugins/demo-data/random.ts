/** The same sequence for the same seed: numbers from 0 on and below 1. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Draws one of `items` by weight, in constant time. */
export function weighted<T>(
  items: readonly T[],
  weightOf: (item: T) => number,
): (random: () => number) => T {
  const PLACES = 1024
  const total = items.reduce((sum, item) => sum + weightOf(item), 0)
  const places: T[] = []
  let upTo = 0
  for (const item of items) {
    upTo += weightOf(item)
    while (places.length < Math.round((upTo / total) * PLACES)) places.push(item)
  }
  return (random) => places[Math.floor(random() * places.length)] as T
}
