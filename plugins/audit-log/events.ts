import type { AuditEntry } from 'model-gateway/admin'

/** Period in which repeats of an event share one entry; the first event has a separate one. */
const WINDOW_MS = 60_000
/**
 * Maximum number of kinds of events per period; further kinds are counted together. Unauthenticated
 * callers can only cause refusals.
 */
const MOST = { refused: 20, succeeded: 1_000 }
/** Maximum number of entries that wait for the database. */
const MOST_WAITING = 1_000

/** An event, or several equal ones. */
export interface NotedEntry extends AuditEntry {
  readonly occurredAt: Date
  readonly occurrences: number
}

export interface Events {
  note(entry: AuditEntry): void
  /**
   * Writes closed entries; with `all`, also entries that still collect repeats. Rejects if writing
   * fails.
   */
  flush(what: 'due' | 'all'): Promise<void>
}

export interface EventParts {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly write: (entries: readonly NotedEntry[]) => Promise<void>
  readonly counter: { add(count: number, labels: Readonly<Record<string, string>>): void }
  /** Called once for each complete entry. */
  readonly tell: (entry: NotedEntry) => void
  readonly lost: (count: number) => void
}

interface Window {
  readonly openedAt: number
  readonly kind: keyof typeof MOST
  last: AuditEntry
  lastAt: number
  /** Events after the first. */
  more: number
}

/** Keeps events in memory until they are written, within bounds on memory and rows. */
export function createEvents({ now, write, counter, tell, lost }: EventParts): Events {
  const windows = new Map<string, Window>()
  const open = { refused: 0, succeeded: 0 }
  let waiting: NotedEntry[] = []

  function keep(entry: AuditEntry, at: number, occurrences: number): void {
    const noted = { ...entry, occurredAt: new Date(at), occurrences }
    tell(noted)
    if (waiting.length < MOST_WAITING) waiting.push(noted)
    else lost(occurrences)
  }

  function close(key: string, { last, lastAt, more, kind }: Window): void {
    windows.delete(key)
    open[kind]--
    if (more > 0) keep(last, lastAt, more)
  }

  return {
    note(entry) {
      const at = now()
      const { action, outcome = 'success' } = entry
      counter.add(1, { action, outcome })
      const kind = outcome === 'success' ? 'succeeded' : 'refused'
      let kept = entry
      let window = windows.get(keyOf(kept))
      if (window === undefined && open[kind] >= MOST[kind]) {
        kept = together(entry)
        window = windows.get(keyOf(kept))
      }
      if (window !== undefined) {
        Object.assign(window, { last: kept, lastAt: at, more: window.more + 1 })
        return
      }
      windows.set(keyOf(kept), { openedAt: at, kind, last: kept, lastAt: at, more: 0 })
      open[kind]++
      keep(kept, at, 1)
    },
    async flush(what) {
      const at = now()
      for (const [key, window] of windows) {
        // The clock may have been set back.
        const isOpen = Math.abs(at - window.openedAt) < WINDOW_MS
        if (what === 'all' || !isOpen) close(key, window)
      }
      const entries = waiting
      if (entries.length === 0) return
      waiting = []
      try {
        await write(entries)
      } catch (error) {
        const left = [...entries, ...waiting]
        waiting = left.slice(0, MOST_WAITING)
        for (const { occurrences } of left.slice(MOST_WAITING)) lost(occurrences)
        throw error
      }
    },
  }
}

function keyOf({ action, outcome, actor, objectKind, objectId, address }: AuditEntry): string {
  const from = address ?? actor?.address
  return JSON.stringify([action, outcome, actor?.userId, objectKind, objectId, from])
}

/** The common members of events that are counted together. */
function together({ requestId, action, outcome, objectKind }: AuditEntry): AuditEntry {
  const what = { requestId, action, objectKind, objectId: 'several' }
  return { actor: undefined, ...what, ...(outcome !== undefined && { outcome }) }
}
