import type { Clock } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { describe } from '../_shared/tally.ts'
import type { PurgeStore } from './purge-store.ts'
import { cutoffOf, lastRun, nextRun, type PurgeSettings } from './retention.ts'

export interface PurgeWorker {
  /** Applies new settings. */
  configure(settings: PurgeSettings): void
  /** Purges if a purge is due. */
  tick(): Promise<void>
}

/**
 * The scheduled purge of one process. Every process may run it: the first one on a day purges, and
 * a missed time is caught up. A log that was never purged counts as purged at the last scheduled
 * time before a process first had a schedule.
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
        // The purging process may still fail, so check again.
        if (deleted === 'busy') return
        next = undefined
        if (deleted !== 'done') log.info({ deleted, cutoff }, 'old request logs were deleted')
        else next = nextRun(schedule, now)
      } catch (err) {
        // The next tick retries.
        log.error(describe(err), 'old request logs could not be deleted')
      }
    },
  }
}
