/** Room for what waits in memory, in characters. */
export interface Room {
  /** Takes room, if there is enough. What comes first is let in whatever its size. */
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
