import { mkdirSync } from 'node:fs'
import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { accounting } from 'model-gateway/accounting'
import {
  type BoundRouteFacts,
  boundRouteListeners,
  type ConfigSnapshot,
  snapshotListeners,
} from 'model-gateway/host'
import { httpRoutes } from 'model-gateway/http'
import { identity } from 'model-gateway/identity'
import { exchangeRecorders } from 'model-gateway/observer'
import { definePlugin, Type } from 'model-gateway/plugin'
import { dialects, surfaces } from 'model-gateway/surface'
import tables from '../../migrations/provider-resources/0001_tables.sql' with { type: 'text' }
import { createTally } from '../_shared/tally.ts'
import { createAccounts } from './accounts.ts'
import { batchRoutes } from './batches.ts'
import { createCharge } from './charge.ts'
import * as contract from './contract.ts'
import { upstreamResources } from './contract.ts'
import { createDoor } from './door.ts'
import { fileRoutes } from './files.ts'
import { createLooks } from './looks.ts'
import { createModels } from './models.ts'
import { createNotes } from './notes.ts'
import { responseRoutes } from './responses.ts'
import { createStore } from './store.ts'

/** Interval of checks for due batches and responses. */
const LOOK_EVERY_MS = 1_000
const HOUR_MS = 3_600_000
/** OpenAI keeps a response for 30 days. */
const KEPT_MS = 30 * 24 * HOUR_MS
/** Age after which uploads of dead processes are deleted. */
const LEFT_OVER_MS = 24 * HOUR_MS

/** Serves files, batches and stored responses of callers at the providers that store them. */
export default definePlugin({
  contracts: { 'model-gateway/resources': contract },
  manifest: {
    id: 'plugin.provider-resources',
    version: '0.1.0',
    contract: 1,
    summary: 'Files, batches and stored responses at the provider that stores them.',
    config: Type.Object(
      {
        max_file_bytes: Type.Integer({
          minimum: 1,
          default: 512 * 1024 * 1024,
          description:
            'Maximum size of a file that callers upload. The file is first written to the local disk.',
        }),
      },
      { additionalProperties: false },
    ),
    needs: ['database', 'schedule', 'clock', 'files', 'runtime', 'inspection', 'start'],
    uses: {
      identity,
      accounting,
      recorders: exchangeRecorders,
      upstreams: upstreamResources,
      surfaces,
      dialects,
    },
    requires: ['plugin.accounting'],
    migrations: [{ name: '0001_tables', sql: tables }],
  },
  setup(ctx) {
    const { uses, clock, log, schedule } = ctx
    let snapshot: ConfigSnapshot = ctx.start.config
    ctx.provide(snapshotListeners, {
      async prepare(next) {
        return () => {
          snapshot = next
        }
      },
    })

    let routes: ReadonlyMap<string, BoundRouteFacts> = new Map()
    ctx.provide(boundRouteListeners, {
      inForce(bound) {
        routes = bound
      },
    })

    const store = createStore(ctx.database)
    const accounts = createAccounts({ upstreams: uses.upstreams, snapshot: () => snapshot })
    const models = createModels({ inspection: ctx.inspection, surfaces: uses.surfaces })
    const charge = createCharge({ store, ...uses, routes: () => routes })
    const looks = createLooks({ store, accounts, charge, clock, log, signal: ctx.signal })
    const failures = createTally({
      log,
      name: 'failures',
      message:
        'cannot access the records of provider resources; new responses are known to this process only',
    })
    const failed = (error: unknown) => failures.add(1, 'the database is unreachable', error)
    const notes = createNotes({ store, accounts, failed })
    ctx.provide(exchangeRecorders, notes.recorder)

    const door = createDoor({
      ...uses,
      runtime: ctx.runtime,
      fault: (err) => log.error({ err }, 'a recorder failed'),
    })
    const uploads = () => {
      const directory = join(ctx.files.directory(), 'uploads')
      mkdirSync(directory, { recursive: true })
      return directory
    }
    for (const route of [
      ...fileRoutes(door, {
        store,
        accounts,
        models,
        identity: uses.identity,
        directory: uploads,
        maxBytes: ctx.config.max_file_bytes,
      }),
      ...batchRoutes(door, {
        store,
        accounts,
        models,
        accounting: uses.accounting,
        clock,
        pricingOf: charge.pricingOf,
        seen: looks.seenBatch,
      }),
      ...responseRoutes(door, { store, accounts, find: notes.find, seen: looks.seenResponse }),
    ]) {
      ctx.provide(httpRoutes, route)
    }

    if (!ctx.start.serves) return
    schedule.every(LOOK_EVERY_MS, async () => {
      await notes.flush()
      await looks.look().catch(failed)
    })
    schedule.every(HOUR_MS, async () => {
      const now = clock.now().getTime()
      await store.purgeResponses(new Date(now - KEPT_MS))
      for (const name of await readdir(uploads())) {
        const path = join(uploads(), name)
        const { mtimeMs } = await stat(path)
        if (mtimeMs < now - LEFT_OVER_MS) await unlink(path)
      }
    })
    return async () => {
      await looks.drained()
      await notes.flush()
      failures.report()
    }
  },
})
