/**
 * A set of what is under way, for things that come and go with each request. The engine's own `Set`
 * and `Map` lose in time what is deleted from them, but hold on to it until the next full collection
 * of memory: the tables that they outgrow refer to each other, the oldest ones count as alive, and
 * with them all that stood in the later ones. Every request then lives through dozens of collections
 * that were to free it.
 */
export class LiveSet<T> implements Iterable<T> {
  readonly #values: (T | undefined)[] = []
  readonly #free: number[] = []

  /** Where the value stands: for `delete`, once. */
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

  /** What is added or deleted meanwhile may or may not be among them. */
  *[Symbol.iterator](): Generator<T, void> {
    for (const value of this.#values) if (value !== undefined) yield value
  }
}
