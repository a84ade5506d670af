import {
  adminModules,
  auditTrail,
  ConfigError,
  definePlugin,
  mcpAuthModes,
  mcpRegistry,
  type Problem,
  snapshotListeners,
  Type,
} from 'model-gateway/plugin'
import tables from '../../migrations/mcp-registry/0001_tables.sql' with { type: 'text' }
import { mcpRoutes } from './admin.ts'
import { createServerChanges } from './change-servers.ts'
import { checkMcp } from './check.ts'
import { type McpSettings, mcp } from './config.ts'
import { declarationProblems } from './declaration.ts'
import { createDiscoveryStore } from './discovery-store.ts'
import { createRefresher } from './refresh.ts'
import { createScheduledRefresh } from './scheduled-refresh.ts'
import { planSeed, withDefaults } from './seed.ts'
import { createSnapshot } from './snapshot.ts'
import { CHANGED, createServerStore } from './store.ts'

/** Also the longest that a change goes unseen while notifications do not arrive. */
const CHECK_EVERY_MS = 1_000
const SCHEDULE_EVERY_MS = 20_000

/** MCP servers that administrators register or the config file declares, and their tools. */
export default definePlugin({
  manifest: {
    id: 'plugin.mcp-registry',
    version: '0.1.0',
    contract: 1,
    summary: 'MCP servers, the discovery of their tools, and their administration.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [mcp],
    needs: ['database', 'schedule', 'services', 'clock', 'outbound'],
    migrations: [{ name: '0001_tables', sql: tables }],
    check: checkMcp,
  },
  async setup(ctx) {
    const { database, schedule, services, clock, outbound, log, meter, tracer, signal } = ctx
    const servers = createServerStore(database)
    const discovery = createDiscoveryStore(database)
    const snapshot = createSnapshot(servers)
    const modes = () => services.all(mcpAuthModes)
    let allowedOrigins: readonly string[] = []
    let policy = policyOf({ allow_private_networks: false, allowed_cidrs: [] })

    let inReach = true
    const check = async () => {
      try {
        await snapshot.check()
        if (!inReach) log.info('the MCP registry is up to date again')
        inReach = true
      } catch (err) {
        if (inReach) log.warn({ err }, 'the database cannot be reached; MCP servers stay as known')
        inReach = false
      }
    }

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
        refresher,
        policy: () => policy,
        changes: createServerChanges({
          database,
          store: servers,
          audit: () => services.one(auditTrail),
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
        const problems = [...problemsOf(settings, modes())]
        if (problems.length > 0) throw new ConfigError(problems)
        const { warnings } = await servers.seed((existing) =>
          planSeed(settings.servers, existing, () => Bun.randomUUIDv7()),
        )
        for (const { path, message } of warnings) log.warn({ path: path.join('.') }, message)
        await snapshot.check()
        return () => {
          policy = policyOf(settings)
          allowedOrigins = settings.allowed_origins
          snapshot.setPolicy(policy)
          scheduled.configure(settings.discovery_schedule)
        }
      },
    })

    const stopListening = await database.listen(
      CHANGED,
      () => void check(),
      () => void check(),
    )
    schedule.every(CHECK_EVERY_MS, check)
    schedule.every(SCHEDULE_EVERY_MS, scheduled.tick)
    return stopListening
  },
})

function policyOf(settings: Pick<McpSettings, 'allow_private_networks' | 'allowed_cidrs'>) {
  return {
    allowPrivate: settings.allow_private_networks,
    allowedCidrs: settings.allowed_cidrs,
  }
}

/** What auth modes find wrong with the servers that the file declares. */
function* problemsOf(
  settings: McpSettings,
  modes: Parameters<typeof declarationProblems>[1],
): Iterable<Problem> {
  const policy = policyOf(settings)
  for (const [i, entry] of settings.servers.entries()) {
    const allowPrivate = policy.allowPrivate || entry.allow_private
    for (const { field, message } of declarationProblems(withDefaults(entry), modes, {
      ...policy,
      allowPrivate,
    })) {
      yield { path: ['mcp', 'servers', i, ...field.split('.')], message }
    }
  }
}
