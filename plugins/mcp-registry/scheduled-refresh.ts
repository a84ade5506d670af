import { type Clock, GatewayError } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import type { DiscoveryStore } from './discovery-store.ts'
import { nameOf, type Refresher } from './refresh.ts'
import { dueSlot } from './schedule.ts'
import type { ServerStore } from './store.ts'

/** Longer than the discovery of one server; extended after each. */
const SERVER_MS = 180_000

export interface ScheduledRefresh {
  /** Sets the schedule: `off` or cron fields. */
  configure(schedule: string): void
  /**
   * Refreshes all active servers one by one, if a slot is due and no other replica has taken it.
   */
  tick(): Promise<void>
}

/** The recurring refresh. Every replica runs it; the first one does the work of a slot. */
export function createScheduledRefresh(parts: {
  readonly servers: Pick<ServerStore, 'listActive'>
  readonly store: Pick<DiscoveryStore, 'takeSlot' | 'keepSlot' | 'finishSlot'>
  readonly refresher: Refresher
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}): ScheduledRefresh {
  const { servers, store, refresher, clock, log, signal } = parts
  let schedule = 'off'
  let seen = clock.now()

  async function refreshAll(slot: Date): Promise<void> {
    for (const id of await servers.listActive()) {
      if (signal.aborted) return
      try {
        await refresher.refresh(id)
      } catch (error) {
        // GatewayErrors are expected: the server was removed, or an administrator refreshes it.
        if (!(error instanceof GatewayError)) {
          log.error({ server_id: id, error: nameOf(error) }, 'a scheduled refresh failed')
        }
      }
      await store.keepSlot(slot, SERVER_MS)
    }
  }

  return {
    configure(changed) {
      // Slots of a new schedule before its start are skipped.
      if (changed !== schedule) seen = clock.now()
      schedule = changed
    },
    async tick() {
      const now = clock.now()
      const slot = dueSlot(schedule, seen, now)
      if (slot === undefined) return
      const mine = await store.takeSlot(slot, SERVER_MS)
      seen = now
      if (!mine) return
      log.info({ slot }, 'scheduled discovery of all MCP servers started')
      try {
        await refreshAll(slot)
      } finally {
        await store.finishSlot(slot)
      }
    },
  }
}
