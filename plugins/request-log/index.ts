import { adminModules, auditTrail } from 'model-gateway/admin'
import { snapshotListeners } from 'model-gateway/host'
import { exchangeRecorders } from 'model-gateway/observer'
import { commands, definePlugin, healthChecks, optional, Type } from 'model-gateway/plugin'
import tables from '../../migrations/request-log/0001_tables.sql' with { type: 'text' }
import reportsAndRetention from '../../migrations/request-log/0002_reports_and_retention.sql' with {
  type: 'text',
}
import failedRequests from '../../migrations/request-log/0003_failed_requests.sql' with {
  type: 'text',
}
import payloadCompression from '../../migrations/request-log/0004_payload_compression.sql' with {
  type: 'text',
}
import ownedTraffic from '../../migrations/request-log/0005_owned_traffic.sql' with { type: 'text' }
import upstreamRequestIds from '../../migrations/request-log/0006_upstream_request_ids.sql' with {
  type: 'text',
}
import pricedTraffic from '../../migrations/request-log/0007_priced_traffic.sql' with {
  type: 'text',
}
import filters from '../../migrations/request-log/0008_filters.sql' with { type: 'text' }
import harnessNames from '../../migrations/request-log/0009_harness_names.sql' with { type: 'text' }
import { createBatchWriter } from '../_shared/batch-writer.ts'
import { createConfigVersions } from '../_shared/config-versions.ts'
import { followDatabase } from '../_shared/follow-database.ts'
import { ledgerReserve } from '../_shared/ledger-reserve.ts'
import { createRoom } from '../_shared/room.ts'
import { openSpool } from '../_shared/spool.ts'
import { createTally } from '../_shared/tally.ts'
import { createWriteAhead } from '../_shared/write-ahead.ts'
import { type LoggingPolicy, policyRoutes } from './admin.ts'
import { checkRequestLogging, defaultSettings, requestLogging } from './config.ts'
import { harnessRoutes } from './harness-routes.ts'
import { createHarnessStore, NAMES_CHANGED } from './harness-store.ts'
import { createHarnesses } from './harnesses.ts'
import { createIntake } from './intake.ts'
import { neededDays } from './partitions.ts'
import { payloadPolicy } from './policy.ts'
import { createPurgeCommand, purgeRequestLogs } from './purge-command.ts'
import { createPurgeStore } from './purge-store.ts'
import { createPurgeWorker } from './purge-worker.ts'
import type { Retention } from './retention.ts'
import { encodeSummary, fromRecord, isLogged, newRowId, toRecord } from './row.ts'
import { createStore } from './store.ts'
import { createUnowned } from './unowned.ts'

/** Name of the files on the local disk. */
const NAME = 'request-log'
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
/** Maximum characters of payloads in memory, including their source bodies. */
const PAYLOAD_CHARS = 48 * 1024 * 1024
/** Interval at which a due purge is started. */
const PURGE_CHECK_MS = 30_000

/** Logs every finished request, off the request path. */
export default definePlugin({
  manifest: {
    id: 'plugin.request-log',
    version: '0.1.0',
    contract: 1,
    summary: 'Summary, attempts, tags and sanitised payloads of every finished inference request.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [requestLogging],
    commands: [purgeRequestLogs],
    needs: ['database', 'schedule', 'clock', 'files'],
    uses: { trail: optional(auditTrail) },
    migrations: [
      { name: '0001_tables', sql: tables },
      { name: '0002_reports_and_retention', sql: reportsAndRetention },
      { name: '0003_failed_requests', sql: failedRequests },
      { name: '0004_payload_compression', sql: payloadCompression },
      { name: '0005_owned_traffic', sql: ownedTraffic },
      { name: '0006_upstream_request_ids', sql: upstreamRequestIds },
      { name: '0007_priced_traffic', sql: pricedTraffic },
      { name: '0008_filters', sql: filters },
      { name: '0009_harness_names', sql: harnessNames },
    ],
    check: checkRequestLogging,
  },
  async setup(ctx) {
    const { log, meter, clock } = ctx
    const store = createStore(ctx.database)
    const ensurePartitions = () => store.ensurePartitions(neededDays(clock.now()))
    await ensurePartitions()
    ctx.schedule.every(HOUR_MS, ensurePartitions)

    const purges = createPurgeStore(ctx.database)
    const worker = createPurgeWorker({ store: purges, clock, log })
    ctx.schedule.every(PURGE_CHECK_MS, worker.tick)
    let retention: Retention = '7d'
    ctx.provide(
      commands,
      createPurgeCommand(purges, clock, () => retention),
    )

    const policies = createConfigVersions(payloadPolicy(defaultSettings))
    let shown: LoggingPolicy | undefined
    let reserve = 0
    const names = createHarnessStore(ctx.database)
    const known = createHarnesses(names)
    const stopFollowing = await followDatabase(ctx, NAMES_CHANGED, known.refresh, {
      away: 'the gateway uses the last names of coding agents that it read',
      back: 'the gateway reads the names of coding agents again',
    })
    ctx.provide(adminModules, {
      id: 'request-log',
      routes: [
        ...policyRoutes(() => shown),
        ...harnessRoutes({
          database: ctx.database,
          store: names,
          harnesses: known,
          trail: ctx.uses.trail,
        }),
      ],
    })
    ctx.provide(snapshotListeners, {
      async prepare(snapshot) {
        const { payloads, purge, harnesses } = snapshot.section(requestLogging)
        const policy = payloadPolicy(payloads)
        const nextReserve = ledgerReserve(snapshot)
        return () => {
          reserve = nextReserve
          policies.accept(snapshot.version, policy)
          worker.configure(purge)
          retention = purge.retention
          known.configure(harnesses)
          shown = { payloads, purge }
        }
      },
    })

    const directory = ctx.files.directory()
    const spool = openSpool({ directory, name: NAME, log, reserve: () => reserve })
    await spool.adopt()
    const room = createRoom(PAYLOAD_CHARS)
    const shed = createTally({
      log,
      name: 'shed',
      message: 'payloads were dropped from the request log',
      counter: meter.createCounter('gateway.log_queue.shed', {
        description: 'Request-log payloads that were dropped.',
      }),
    })
    const lost = createTally({
      log,
      name: 'lost',
      message: 'request-log rows were lost',
      counter: meter.createCounter('gateway.log_queue.lost', {
        description: 'Request-log rows that were lost.',
      }),
    })
    const writer = createBatchWriter({
      name: 'the request log',
      write: store.write,
      toRecord,
      fromRecord,
      spool,
      ahead: createWriteAhead(directory, NAME, () => reserve),
      payloads: { room, shed },
      lost,
      log,
    })
    const intake = createIntake({ room, push: writer.push, refuses: writer.away, shed, log })

    const unowned = createUnowned({
      log,
      counter: meter.createCounter('gateway.unowned_requests', {
        unit: '{request}',
        description: 'Inference requests that ended before their owner was known.',
      }),
    })
    ctx.schedule.every(MINUTE_MS, unowned.report)

    ctx.provide(exchangeRecorders, {
      streamEventLimit() {
        const { wire } = policies.latest()
        return wire.capture_mode === 'redacted_payloads' ? wire.stream_max_events : 0
      },
      record(exchange) {
        if (exchange.principal === undefined) return unowned.add(exchange)
        const policy = policies.of(exchange.configVersion)
        if (!isLogged(exchange.principal, policy)) return
        const occurredAt = clock.now().getTime()
        const id = newRowId(occurredAt)
        const harness = known.classify(exchange.userAgent)
        const json = encodeSummary(id, occurredAt, exchange, policy, harness)
        if (policy.wire.capture_mode !== 'redacted_payloads') {
          return writer.push({ occurredAt, json, payload: undefined })
        }
        const { requestBody: body, response, usage } = exchange
        const raw = { headers: exchange.requestHeaders(), body, response, usage }
        intake.add({ occurredAt, json }, raw, policy)
      },
    })
    ctx.provide(healthChecks, {
      name: 'request_log',
      check: () => ({
        status: writer.away() || spool.depth > 0 ? 'degraded' : 'ok',
        details: {
          queued: intake.waiting() + writer.waiting(),
          shed: shed.total,
          spool_depth: spool.depth,
        },
      }),
    })
    return async () => {
      await stopFollowing()
      unowned.report()
      intake.flush()
      await writer.close()
    }
  },
})
