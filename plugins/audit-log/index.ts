import { adminModules, auditTrail } from 'model-gateway/admin'
import { definePlugin, Type } from 'model-gateway/plugin'
import tables from '../../migrations/audit-log/0001_tables.sql' with { type: 'text' }
import events from '../../migrations/audit-log/0002_events.sql' with { type: 'text' }
import { createTally } from '../_shared/tally.ts'
import { auditRoutes } from './admin.ts'
import { createEvents, type NotedEntry } from './events.ts'
import { createStore } from './store.ts'

const WRITE_EVERY_MS = 1_000
const HOUR_MS = 3_600_000
const REFUSALS_KEPT_MS = 90 * 24 * HOUR_MS

/** Records changes in the transaction of the change, and sign-ins and refusals. */
export default definePlugin({
  manifest: {
    id: 'plugin.audit-log',
    version: '0.1.0',
    contract: 1,
    summary: 'The log of changes, sign-ins, refusals and payload reads.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: ['database', 'schedule', 'clock'],
    provides: [auditTrail],
    migrations: [
      { name: '0001_tables', sql: tables },
      { name: '0002_events', sql: events },
    ],
  },
  setup(ctx) {
    const { clock, log } = ctx
    const store = createStore(ctx.database)
    const lost = createTally({ log, name: 'lost', message: 'audit log entries were lost' })
    const noted = createEvents({
      now: () => clock.now().getTime(),
      write: store.writeEvents,
      counter: ctx.meter.createCounter('gateway.auth.events', {
        unit: '{event}',
        description: 'Sign-ins, refusals, key guesses and payload reads.',
      }),
      tell: (entry) =>
        log[(entry.outcome ?? 'success') === 'success' ? 'info' : 'warn'](
          lineOf(entry),
          `audit: ${entry.action}`,
        ),
      lost: (count) => lost.add(count, 'the database is unreachable'),
    })
    ctx.provide(auditTrail, { write: store.write, note: noted.note })
    ctx.provide(adminModules, { id: 'audit-log', routes: auditRoutes(store) })
    // The entries stay in memory; other plugins log the outage.
    ctx.schedule.every(WRITE_EVERY_MS, () => noted.flush('due').catch(() => {}))
    ctx.schedule.every(HOUR_MS, () =>
      store.purgeRefusals(new Date(clock.now().getTime() - REFUSALS_KEPT_MS)),
    )
    return async () => {
      await noted.flush('all').catch((err) => log.error({ err }, 'audit log entries were lost'))
      lost.report()
    }
  },
})

/** The members of an entry in the gateway's log. None of them is free text of callers. */
function lineOf(entry: NotedEntry) {
  const { actor } = entry
  return {
    action: entry.action,
    outcome: entry.outcome ?? 'success',
    object_kind: entry.objectKind,
    object_id: entry.objectId,
    actor_user_id: actor?.userId,
    address: entry.address ?? actor?.address,
    occurrences: entry.occurrences,
    request_id: entry.requestId,
  }
}
