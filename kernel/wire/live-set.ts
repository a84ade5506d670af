/**
 * A set for in-flight objects that come and go with each request. The engine's `Set` and `Map` keep
 * references to deleted entries until the next full garbage collection: their outgrown tables refer
 * to each other, the oldest ones count as alive, and so does everything in later ones. Each request
 * would then survive dozens of young collections.
 */
export class LiveSet<T> implements Iterable<T> {
  readonly #values: (T | undefined)[] = []
  readonly #free: number[] = []

  /** Returns the position of the value, for one `delete`. */
  add(value: T): number {
    const place = this.#free.pop() ?? this.#values.length
    this.#values[place] = value
    return place
  }

  delete(place: number): void {
    this.#values[place] = undefined
    this.#free.push(place)
  }

  get size(): number {
    return this.#values.length - this.#free.length
  }

  /** Values added or deleted during iteration may or may not be included. */
  *[Symbol.iterator](): Generator<T, void> {
    for (const value of this.#values) if (value !== undefined) yield value
  }
}
