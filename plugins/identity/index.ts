import { adminModules, adminSessions, auditTrail, budgetWriter } from 'model-gateway/admin'
import { type ConfigSnapshot, snapshotListeners, welcome } from 'model-gateway/host'
import { identity } from 'model-gateway/identity'
import {
  commands,
  definePlugin,
  formatPath,
  healthChecks,
  optional,
  Type,
} from 'model-gateway/plugin'
import tables from '../../migrations/identity/0001_tables.sql' with { type: 'text' }
import adminTables from '../../migrations/identity/0002_admin.sql' with { type: 'text' }
import mcpServers from '../../migrations/identity/0003_mcp_servers.sql' with { type: 'text' }
import { followDatabase } from '../_shared/follow-database.ts'
import { type KnownModels, knownModels } from '../_shared/model-names.ts'
import { createNote } from '../_shared/note.ts'
import { createAdminModule } from './admin.ts'
import { checkIdentity } from './check.ts'
import { createKeysCommand, createWelcome, keysCreate } from './commands.ts'
import { auth, serviceAccounts, teams, users } from './config.ts'
import {
  adminCreate,
  bootstrapAdmin,
  createAdminCommand,
  createAdminWelcome,
} from './first-admin.ts'
import { readSecretLine } from './prompt.ts'
import { type Existing, planSeed, type SeedEntries, seededPublicIds } from './seed.ts'
import { errors } from './sessions/errors.ts'
import { createSessions } from './sessions/sessions.ts'
import { createSessionStore, UNLOCKED } from './sessions/store.ts'
import { adminUnlock, createUnlockCommand } from './sessions/unlock-command.ts'
import { createSnapshot } from './snapshot.ts'
import {
  CHANGED,
  checkSeed,
  readDirectory,
  readKeys,
  readRevision,
  seed,
  writeLastUsed,
} from './store.ts'

const WRITE_USES_EVERY_MS = 5_000
const SWEEP_SESSIONS_EVERY_MS = 3_600_000

/** The parts of the config in force. */
interface Known {
  readonly models: KnownModels
  readonly teamKeys: ReadonlySet<string>
  readonly emails: ReadonlySet<string>
  readonly quickstartUser: string | undefined
}

/** Users, teams, service accounts and their API keys; authenticates callers. */
export default definePlugin({
  manifest: {
    id: 'plugin.identity',
    version: '0.1.0',
    contract: 1,
    summary: 'Users, teams, service accounts and API keys.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [auth, teams, users, serviceAccounts],
    commands: [keysCreate, adminCreate, adminUnlock],
    needs: ['database', 'schedule', 'clock'],
    uses: { audit: auditTrail, budgets: optional(budgetWriter) },
    provides: [identity, adminSessions],
    errors,
    migrations: [
      { name: '0001_tables', sql: tables },
      { name: '0002_admin', sql: adminTables },
      { name: '0003_mcp_servers', sql: mcpServers },
    ],
    check: checkIdentity,
  },
  async setup(ctx) {
    const { database, schedule, uses, clock, log } = ctx
    const note = createNote(uses.audit)
    const snapshot = createSnapshot(
      { readRevision: () => readRevision(database), readKeys: () => readKeys(database) },
      () => clock.now().getTime(),
      ({ principal }, outcome, shown) =>
        note({
          actor: undefined,
          requestId: shown.requestId,
          action: 'api_key.refused',
          outcome,
          objectKind: 'api_key',
          objectId: principal.apiKeyId,
          address: shown.address?.(),
          userAgent: shown.header('user-agent') ?? undefined,
        }),
    )
    const writeUses = async () => {
      const uses = snapshot.takeUses()
      if (uses.size === 0) return
      try {
        await writeLastUsed(database, uses)
      } catch {
        snapshot.returnUses(uses)
      }
    }

    let known: Known | undefined
    const sessionStore = createSessionStore(database)
    const sessions = createSessions(sessionStore, clock, note)
    const firstAdmin = { store: sessionStore, audit: uses.audit }
    ctx.provide(identity, { ...snapshot, directory: () => readDirectory(database) })
    ctx.provide(healthChecks, { name: 'identity', check: snapshot.health })
    const entriesOf = (config: ConfigSnapshot): SeedEntries => ({
      teams: config.section(teams),
      users: config.section(users),
      serviceAccounts: config.section(serviceAccounts),
    })
    const planOf = (entries: SeedEntries) => (existing: Existing) =>
      planSeed(entries, existing, () => Bun.randomUUIDv7())
    ctx.provide(snapshotListeners, {
      /** A key in the file may belong to another owner in the database. */
      async check(config) {
        const entries = entriesOf(config)
        await checkSeed(database, seededPublicIds(entries), planOf(entries))
      },
      async prepare(config) {
        const entries = entriesOf(config)
        const { warnings } = await seed(database, seededPublicIds(entries), planOf(entries))
        for (const { path, message } of warnings) log.warn({ path: formatPath(path) }, message)
        const { stale_max_secs, quickstart_user, bootstrap_admin } = config.section(auth)
        if (bootstrap_admin !== undefined) {
          const { email, password } = bootstrap_admin
          const message = await bootstrapAdmin(firstAdmin, { email, password: password.reveal() })
          if (message !== undefined) log.warn({ path: 'auth.bootstrap_admin' }, message)
        }
        await snapshot.check()
        return () => {
          snapshot.setMaxAge(stale_max_secs * 1000)
          known = {
            models: knownModels(config.models.keys()),
            teamKeys: new Set(entries.teams.map(({ key }) => key)),
            emails: new Set(entries.users.map(({ email }) => email.toLowerCase())),
            quickstartUser: quickstart_user,
          }
        }
      },
    })
    ctx.provide(
      commands,
      createKeysCommand({
        database,
        clock,
        config: () => known,
        audit: firstAdmin.audit,
      }),
    )
    ctx.provide(
      commands,
      createAdminCommand(
        firstAdmin,
        async () =>
          process.env.GATEWAY_ADMIN_PASSWORD ?? (await readSecretLine('Admin password: ')),
      ),
    )
    ctx.provide(commands, createUnlockCommand(sessionStore, firstAdmin.audit))
    ctx.provide(
      welcome,
      createWelcome(database, () => known),
    )
    ctx.provide(
      welcome,
      createAdminWelcome(firstAdmin, () => known?.quickstartUser),
    )

    ctx.provide(adminSessions, sessions)
    ctx.provide(
      adminModules,
      createAdminModule({
        database,
        audit: uses.audit,
        budgets: uses.budgets,
        clock,
        sessions,
        sessionStore,
        note,
        models: () => known?.models ?? knownModels([]),
        teamKeys: () => known?.teamKeys ?? new Set(),
        emails: () => known?.emails ?? new Set(),
        refresh: snapshot.check,
      }),
    )

    // Notifications during a disconnect are lost, which is fine: waits are at most a minute long.
    const stopUnlocking = await database.listen(UNLOCKED, sessions.unlock, () => {})
    const stopFollowing = await followDatabase(ctx, CHANGED, snapshot.check, {
      away: 'API keys are checked from memory',
      back: 'the database is reachable again; API keys are up to date',
    })
    schedule.every(WRITE_USES_EVERY_MS, writeUses)
    schedule.every(SWEEP_SESSIONS_EVERY_MS, sessions.sweep)
    return async () => {
      await stopFollowing()
      await stopUnlocking()
      await writeUses()
    }
  },
})
