/**
 * Returns the items, each after those that `before` returns for it, otherwise in order. `cycle` is
 * called with each chain of items that leads back to its first; the chain is cut there.
 *
 * @example sorted(['a', 'b'], (item) => (item === 'a' ? ['b'] : []), () => {}) // ['b', 'a']
 */
export function sorted<T>(
  items: readonly T[],
  before: (item: T) => readonly T[],
  cycle: (chain: readonly T[]) => void,
): readonly T[] {
  const done = new Set<T>()
  function visit(item: T, trail: readonly T[]) {
    if (done.has(item)) return
    const start = trail.indexOf(item)
    if (start >= 0) return cycle([...trail.slice(start), item])
    for (const other of before(item)) visit(other, [...trail, item])
    done.add(item)
  }
  for (const item of items) visit(item, [])
  return [...done]
}
