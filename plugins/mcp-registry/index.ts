import { adminModules, auditTrail } from 'model-gateway/admin'
import { snapshotListeners } from 'model-gateway/host'
import { mcpAuthModes, mcpRegistry } from 'model-gateway/mcp'
import { definePlugin, formatPath, Type } from 'model-gateway/plugin'
import tables from '../../migrations/mcp-registry/0001_tables.sql' with { type: 'text' }
import toolVersions from '../../migrations/mcp-registry/0002_tool_versions.sql' with {
  type: 'text',
}
import access from '../../migrations/mcp-registry/0003_access.sql' with { type: 'text' }
import { followDatabase } from '../_shared/follow-database.ts'
import { mcpRoutes } from './admin.ts'
import { createServerChanges } from './change-servers.ts'
import { checkMcp } from './check.ts'
import { type McpSettings, mcp } from './config.ts'
import { createDiscoveryStore } from './discovery-store.ts'
import { purgeRuns } from './purge.ts'
import { createRefresher } from './refresh.ts'
import { createScheduledRefresh } from './scheduled-refresh.ts'
import { auditSecretMove } from './secret-move.ts'
import { planSeed } from './seed.ts'
import { createSnapshot } from './snapshot.ts'
import { CHANGED, createServerStore } from './store.ts'
import { createToolVersionStore } from './tool-version-store.ts'

const SCHEDULE_EVERY_MS = 20_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Whose change it is in the audit log. */
const byConfig = { actor: undefined, requestId: 'config' }

/** MCP servers from administrators or the config file, and their tools. */
export default definePlugin({
  manifest: {
    id: 'plugin.mcp-registry',
    version: '0.1.0',
    contract: 1,
    summary: 'MCP servers: their registration, administration and the discovery of their tools.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [mcp],
    needs: ['database', 'schedule', 'clock', 'outbound'],
    uses: { audit: auditTrail, modes: mcpAuthModes },
    provides: [mcpRegistry],
    migrations: [
      { name: '0001_tables', sql: tables },
      { name: '0002_tool_versions', sql: toolVersions },
      { name: '0003_access', sql: access },
    ],
    check: checkMcp,
  },
  async setup(ctx) {
    const { database, schedule, uses, clock, outbound, log, meter, tracer, signal } = ctx
    const { audit, modes } = uses
    const servers = createServerStore(database)
    const discovery = createDiscoveryStore(database, audit)
    const snapshot = createSnapshot(servers)
    let allowedOrigins: readonly string[] = []
    let runsKeptMs = Number.POSITIVE_INFINITY
    let policy = policyOf({ allow_private_networks: false, allowed_cidrs: [] })

    const refresher = createRefresher({
      servers,
      store: discovery,
      outbound,
      modes,
      policy: () => policy,
      committed: snapshot.check,
      clock,
      meter,
      tracer,
      log,
      signal,
    })
    const scheduled = createScheduledRefresh({
      servers,
      store: discovery,
      refresher,
      clock,
      log,
      signal,
    })

    ctx.provide(mcpRegistry, { find: snapshot.find, allowedOrigins: () => allowedOrigins })
    ctx.provide(adminModules, {
      id: 'mcp-registry',
      routes: mcpRoutes({
        servers,
        discovery,
        versions: createToolVersionStore(database),
        refresher,
        policy: () => policy,
        changes: createServerChanges({
          database,
          store: servers,
          audit,
          outbound,
          modes,
          policy: () => policy,
          committed: snapshot.check,
        }),
      }),
    })
    ctx.provide(snapshotListeners, {
      async prepare(config) {
        const settings = config.section(mcp)
        const { warnings } = await servers.seed(
          (existing) => planSeed(settings.servers, existing, () => Bun.randomUUIDv7()),
          (tx, { before, set }) =>
            auditSecretMove(audit(), tx, byConfig, { ...before, ...set }, set),
        )
        for (const { path, message } of warnings) log.warn({ path: formatPath(path) }, message)
        await snapshot.check()
        return () => {
          policy = policyOf(settings)
          allowedOrigins = settings.allowed_origins
          runsKeptMs = Number.parseInt(settings.audit_retention, 10) * DAY_MS
          snapshot.setPolicy(policy)
          scheduled.configure(settings.discovery_schedule)
        }
      },
    })

    schedule.every(SCHEDULE_EVERY_MS, scheduled.tick)
    schedule.every(HOUR_MS, async () => {
      const before = new Date(Math.max(0, clock.now().getTime() - runsKeptMs))
      const deleted = await purgeRuns(database, before)
      if (deleted > 0) log.info({ deleted }, 'deleted old discovery records')
    })
    return await followDatabase(ctx, CHANGED, snapshot.check, {
      away: 'MCP servers stay as last read',
      back: 'the database is reachable again; the MCP registry is up to date',
    })
  },
})

function policyOf(settings: Pick<McpSettings, 'allow_private_networks' | 'allowed_cidrs'>) {
  return {
    allowPrivate: settings.allow_private_networks,
    allowedCidrs: settings.allowed_cidrs,
  }
}
