import { inTime } from 'model-gateway/plugin'
import type { Store } from './store.ts'

/** In memory; the rest is asked for. About 10 MB. */
export const MAX_KNOWN = 50_000
/** Notes that wait for the database while it is away; further ones are known here alone. */
const MAX_WAITING = 50_000
/** A caller waits no longer for the store. */
const FIND_MS = 1_000

export interface Places {
  /** The place that was noted; undefined for what is not known, and while the store is away. Never rejects. */
  find(key: string): string | undefined | Promise<string | undefined>
  /** What is known already stays as it is. */
  note(keys: readonly string[], place: string): void
  /** Writes what was noted since the last time. */
  flush(): Promise<void>
}

export interface PlacesOptions {
  readonly store: Pick<Store, 'find' | 'write'>
  failed(error: unknown): void
}

export function createPlaces({ store, failed }: PlacesOptions): Places {
  /** The one that was asked for last comes last. */
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
        // Newer notes have the room.
        for (const [key, place] of taken) {
          if (waiting.size < MAX_WAITING && !waiting.has(key)) waiting.set(key, place)
        }
      }
    },
  }
}
