import type { Clock } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { describe } from '../_shared/tally.ts'
import type { PurgeStore } from './purge-store.ts'
import { cutoffOf, lastRun, nextRun, type PurgeSettings } from './retention.ts'

export interface PurgeWorker {
  /** From now on by these settings. */
  configure(settings: PurgeSettings): void
  /** Purges when it is time to. */
  tick(): Promise<void>
}

/**
 * The recurring purge of one process. Every process may have one: the first on a day purges, and a
 * time that was missed is made up for. A log that was never purged counts as purged at the last time
 * before a process first had a schedule.
 */
export function createPurgeWorker(options: {
  readonly store: PurgeStore
  readonly clock: Clock
  readonly log: Logger
}): PurgeWorker {
  const { store, clock, log } = options
  let settings: PurgeSettings | undefined
  let since = clock.now()
  let next: Date | undefined
  return {
    configure(changed) {
      settings = changed.enabled ? changed : undefined
      since = clock.now()
      next = undefined
    },
    async tick() {
      if (settings === undefined) return
      const { retention, schedule } = settings
      const now = clock.now()
      const cutoff = cutoffOf(retention, now)
      try {
        next ??= nextRun(schedule, await store.lastScheduled(lastRun(schedule, since) ?? since))
        if (next === undefined || now < next) return
        const deleted = await store.purgeOnce(now, cutoff)
        // Whoever is at it may yet fail.
        if (deleted === 'busy') return
        next = undefined
        if (deleted !== 'done') log.info({ deleted, cutoff }, 'old request logs were deleted')
        else next = nextRun(schedule, now)
      } catch (err) {
        // Tried again at the next tick.
        log.error(describe(err), 'old request logs could not be deleted')
      }
    },
  }
}
