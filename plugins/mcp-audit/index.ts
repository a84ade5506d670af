import { adminModules, auditTrail } from 'model-gateway/admin'
import { snapshotListeners } from 'model-gateway/host'
import { identity } from 'model-gateway/identity'
import { mcpAudit } from 'model-gateway/mcp'
import { definePlugin, GatewayError, healthChecks, optional, Type } from 'model-gateway/plugin'
import tables from '../../migrations/mcp-audit/0001_tables.sql' with { type: 'text' }
import payloadCompression from '../../migrations/mcp-audit/0002_payload_compression.sql' with {
  type: 'text',
}
import { usualLimits } from '../_shared/batch-limits.ts'
import { createBatchWriter } from '../_shared/batch-writer.ts'
import { createDeadline } from '../_shared/deadline.ts'
import { ledgerReserve } from '../_shared/ledger-reserve.ts'
import { createNote } from '../_shared/note.ts'
import { createRoom } from '../_shared/room.ts'
import { openSpool } from '../_shared/spool.ts'
import { createTally } from '../_shared/tally.ts'
import { createWriteAhead } from '../_shared/write-ahead.ts'
import { createInvocations } from './invocations.ts'
import { invocationRoutes } from './lists/routes.ts'
import { createListStore } from './lists/store.ts'
import { createMetrics } from './metrics.ts'
import { noPayloads, payloadPolicy, retentionMs } from './policy.ts'
import { purge } from './purge.ts'
import { overheadRow, type WrittenRow } from './rows.ts'
import { createSessions } from './sessions/sessions.ts'
import { createSessionStore } from './sessions/store.ts'
import { createStore } from './store.ts'

const NAME = 'mcp-audit'
/** Maximum time that a row waits for a batch, because other replicas must see a call soon. */
const GATHER_MS = 50
/** Payloads that wait, in characters. */
const PAYLOAD_CHARS = 16 * 1024 * 1024
/** How long a caller waits for the database. */
const ANSWER_MS = 2_000
/** How long a response may arrive on another connection. */
const RESUME_MS = 600_000
/** Sessions that were unused for this long are forgotten. */
const SESSION_IDLE_MS = 30 * 86_400_000
const HOUR_MS = 3_600_000

/** Records one row per tool call through the MCP proxy, and the owners of MCP sessions. */
export default definePlugin({
  manifest: {
    id: 'plugin.mcp-audit',
    version: '0.1.0',
    contract: 1,
    summary: 'Records MCP tool calls, owners of MCP sessions and sizes of tool lists.',
    config: Type.Object(
      {
        lease_secs: Type.Integer({
          minimum: 1,
          maximum: 3600,
          default: 120,
          description:
            'How long after its last heartbeat a process is considered alive; then its open calls become incomplete.',
        }),
      },
      { additionalProperties: false },
    ),
    needs: ['database', 'schedule', 'clock', 'files'],
    uses: { identity, trail: optional(auditTrail) },
    provides: [mcpAudit],
    requires: ['plugin.mcp-registry', 'plugin.request-log'],
    migrations: [
      { name: '0001_tables', sql: tables },
      { name: '0002_payload_compression', sql: payloadCompression },
    ],
  },
  async setup(ctx) {
    const { log, clock, meter, database } = ctx
    const leaseMs = ctx.config.lease_secs * 1000
    const now = () => clock.now()

    const directory = ctx.files.directory()
    let reserve = 0
    const spool = openSpool({ directory, name: NAME, log, reserve: () => reserve })
    await spool.adopt()
    const ahead = createWriteAhead(directory, NAME, () => reserve)
    const message = 'payloads of MCP tool calls were dropped'
    const shed = createTally({ log, name: 'shed', message })
    const lost = createTally({
      log,
      name: 'lost',
      message: 'results of MCP tool calls were lost',
    })
    const store = createStore(database)
    const writer = createBatchWriter<WrittenRow>({
      name: 'the MCP audit',
      write: (rows) => store.write(rows, leaseMs),
      toRecord: ({ json }) => json,
      fromRecord: (json) => ({ group: JSON.parse(json).id, json, payload: undefined }),
      settled(rows) {
        for (const row of rows) row.settled?.()
      },
      dropped(rows) {
        for (const row of rows) row.dropped?.()
      },
      spool,
      payloads: { room: createRoom(PAYLOAD_CHARS), shed },
      lost,
      log,
      limits: { ...usualLimits, gatherMs: GATHER_MS },
    })

    const deadline = createDeadline()
    /** A call without a durable record must not be sent. */
    async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
      let result: T | undefined
      try {
        await deadline.run(async () => {
          result = await work()
        }, ANSWER_MS)
      } catch (cause) {
        throw new GatewayError(
          'store_unavailable',
          'the audit record of the MCP tool call cannot be written',
          { cause },
        )
      }
      return result as T
    }

    let policy = noPayloads
    let keptMs = Number.POSITIVE_INFINITY
    ctx.provide(snapshotListeners, {
      async prepare(snapshot) {
        const next = payloadPolicy(snapshot)
        const nextKeptMs = retentionMs(snapshot)
        const nextReserve = ledgerReserve(snapshot)
        return () => {
          reserve = nextReserve
          policy = next
          keptMs = nextKeptMs
        }
      },
    })

    const invocations = createInvocations({
      store,
      ahead,
      leaseMs,
      resumeMs: Math.max(RESUME_MS, leaseMs),
      push: writer.push,
      policy: () => policy,
      orUnavailable,
      finished: createMetrics(meter),
      lost: () => lost.add(1, 'a server answered too many unknown calls'),
      now,
      log,
    })
    const sessionStore = createSessionStore(database)
    const sessions = createSessions(sessionStore, orUnavailable, (err) =>
      log.warn({ err }, 'removing an ended MCP session failed'),
    )
    const stopListening = await sessionStore.listen((session) => {
      sessions.forget(session)
      invocations.end(session)
    }, sessions.forgetAll)
    ctx.provide(mcpAudit, {
      open: invocations.open,
      reopen: invocations.reopen,
      bind: sessions.bind,
      ownerOf: sessions.ownerOf,
      unbind: sessions.unbind,
      recordTokenOverhead(overhead) {
        const at = now()
        const id = Bun.randomUUIDv7('hex', at.getTime())
        writer.push({ group: id, json: overheadRow(id, overhead, at), payload: undefined })
      },
    })
    ctx.schedule.every(Math.ceil(leaseMs / 4), async () => {
      await invocations.hold()
      await invocations.sweep()
    })
    ctx.schedule.every(HOUR_MS, async () => {
      await sessionStore.prune(SESSION_IDLE_MS)
      const deleted = await purge(database, new Date(Math.max(0, now().getTime() - keptMs)))
      if (deleted > 0) log.info({ deleted }, 'deleted old MCP tool calls')
    })

    ctx.provide(adminModules, {
      id: 'mcp-audit',
      routes: invocationRoutes(
        createListStore(database),
        () => ctx.uses.identity().directory(),
        createNote(ctx.uses.trail),
      ),
    })
    ctx.provide(healthChecks, {
      name: 'mcp_audit',
      check: () => ({
        status: writer.away() || spool.depth > 0 ? 'degraded' : 'ok',
        details: { queued: writer.waiting(), shed: shed.total, spool_depth: spool.depth },
      }),
    })
    return async () => {
      await stopListening()
      await invocations.lookedUp()
      invocations.flush()
      await writer.close()
      await ahead.close()
    }
  },
})
