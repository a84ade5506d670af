import { definePlugin, Type } from 'model-gateway/plugin'
import { affinity } from 'model-gateway/surface'
import tables from '../../migrations/affinity/0001_tables.sql' with { type: 'text' }
import { createTally } from '../_shared/tally.ts'
import { createAffinity } from './affinity.ts'
import { createPlaces } from './places.ts'
import { createStore } from './store.ts'

const WRITE_EVERY_MS = 1_000
const HOUR_MS = 3_600_000
/** OpenAI keeps a response for 30 days. */
const KEPT_MS = 30 * 24 * HOUR_MS

/** Routes conversations, and references to state at providers, to the route that started them. */
export default definePlugin({
  manifest: {
    id: 'plugin.affinity',
    version: '0.1.0',
    contract: 1,
    summary: 'Remembers which provider keeps the state of a conversation.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: ['database', 'schedule', 'clock'],
    provides: [affinity],
    migrations: [{ name: '0001_tables', sql: tables }],
  },
  setup(ctx) {
    const store = createStore(ctx.database)
    const failures = createTally({
      log: ctx.log,
      name: 'failures',
      message: 'conversations are routed from the memory of this process only',
    })
    const places = createPlaces({
      store,
      failed: (error) => failures.add(1, 'the database is unreachable', error),
    })
    ctx.provide(affinity, createAffinity(places))
    ctx.schedule.every(WRITE_EVERY_MS, places.flush)
    ctx.schedule.every(HOUR_MS, async () => {
      await store.purge(new Date(ctx.clock.now().getTime() - KEPT_MS))
    })
    return async () => {
      await places.flush()
      failures.report()
    }
  },
})
