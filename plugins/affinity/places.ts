import { inTime } from 'model-gateway/plugin'
import type { Store } from './store.ts'

/** Entries in memory, about 10 MB; others are read from the database. */
export const MAX_KNOWN = 50_000
/**
 * Maximum number of entries that wait for an unreachable database; further ones stay in memory
 * only.
 */
const MAX_WAITING = 50_000
/** Maximum time that a caller waits for the store. */
const FIND_MS = 1_000

export interface Places {
  /** The recorded place; undefined if it is unknown or the store is unreachable. Never rejects. */
  find(key: string): string | undefined | Promise<string | undefined>
  /** Existing entries do not change. */
  note(keys: readonly string[], place: string): void
  /** Writes the entries recorded since the last flush. */
  flush(): Promise<void>
}

export interface PlacesOptions {
  readonly store: Pick<Store, 'find' | 'write'>
  failed(error: unknown): void
}

export function createPlaces({ store, failed }: PlacesOptions): Places {
  /** Ordered by last use, the most recent last. */
  const known = new Map<string, string>()
  let waiting = new Map<string, string>()

  function keep(key: string, place: string): void {
    known.delete(key)
    known.set(key, place)
    if (known.size <= MAX_KNOWN) return
    for (const oldest of known.keys()) {
      known.delete(oldest)
      break
    }
  }

  async function ask(key: string): Promise<string | undefined> {
    try {
      const found = await inTime(store.find(key), FIND_MS)
      if (found === undefined) throw new Error(`the database did not answer within ${FIND_MS} ms`)
      if (found.value !== undefined) keep(key, found.value)
      return found.value
    } catch (error) {
      failed(error)
      return undefined
    }
  }

  return {
    find(key) {
      const place = known.get(key)
      if (place === undefined) return ask(key)
      keep(key, place)
      return place
    },
    note(keys, place) {
      for (const key of keys) {
        if (known.has(key)) continue
        keep(key, place)
        if (waiting.size < MAX_WAITING) waiting.set(key, place)
      }
    },
    async flush() {
      if (waiting.size === 0) return
      const taken = waiting
      waiting = new Map()
      try {
        await store.write(taken)
      } catch (error) {
        failed(error)
        // Newer entries take precedence.
        for (const [key, place] of taken) {
          if (waiting.size < MAX_WAITING && !waiting.has(key)) waiting.set(key, place)
        }
      }
    },
  }
}
