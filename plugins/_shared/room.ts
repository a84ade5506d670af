/** Limits the size of data that waits in memory, in characters. */
export interface Room {
  /** Reserves space, if there is enough. The first item is accepted at any size. */
  take(size: number): boolean
  give(size: number): void
}

export function createRoom(limit: number): Room {
  let used = 0
  return {
    take(size) {
      if (used > 0 && used + size > limit) return false
      used += size
      return true
    },
    give(size) {
      used -= size
    },
  }
}
