import { definePlugin, exchangeRecorders, snapshotListeners, Type } from 'model-gateway/plugin'
import tables from '../../migrations/request-log/0001_tables.sql' with { type: 'text' }
import { createBatchWriter } from './batch-writer.ts'
import { requestLogging } from './config.ts'
import { neededDays } from './partitions.ts'
import { createPolicies, payloadPolicy } from './policy.ts'
import { encodeRow, isLogged } from './row.ts'
import { createStore } from './store.ts'

const HOUR_MS = 3_600_000

/** Writes a summary and its attempts for every finished request, off the request's path. */
export default definePlugin({
  manifest: {
    id: 'plugin.request-log',
    version: '0.1.0',
    contract: 1,
    summary: 'A summary row and its attempt rows for every finished inference request.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [requestLogging],
    needs: ['database', 'schedule', 'clock'],
    migrations: [{ name: '0001_tables', sql: tables }],
  },
  async setup(ctx) {
    const store = createStore(ctx.database)
    const ensurePartitions = () => store.ensurePartitions(neededDays(ctx.clock.now()))
    await ensurePartitions()
    ctx.schedule.every(HOUR_MS, ensurePartitions)

    const policies = createPolicies()
    ctx.provide(snapshotListeners, {
      async prepare(snapshot) {
        const { payloads } = snapshot.section(requestLogging)
        return () => policies.accept(snapshot.version, payloadPolicy(payloads.capture_mode))
      },
    })

    const writer = createBatchWriter(store.write, ctx.log)
    ctx.provide(exchangeRecorders, {
      record(exchange) {
        const policy = policies.of(exchange.configVersion)
        if (!isLogged(exchange.principal, policy)) return
        writer.push(encodeRow(exchange, policy, ctx.clock.now().getTime()))
      },
    })
    return writer.close
  },
})
