import {
  commands,
  definePlugin,
  healthChecks,
  identity,
  snapshotListeners,
  Type,
  welcome,
} from 'model-gateway/plugin'
import tables from '../../migrations/identity/0001_tables.sql' with { type: 'text' }
import { checkIdentity } from './check.ts'
import { createKeysCommand, createWelcome, keysCreate } from './commands.ts'
import { auth, serviceAccounts, teams, users } from './config.ts'
import { planSeed, seededPublicIds } from './seed.ts'
import { createSnapshot } from './snapshot.ts'
import { CHANGED, readDirectory, readKeys, readRevision, seed, writeLastUsed } from './store.ts'

/** Also the longest that a change goes unseen while notifications do not arrive. */
const CHECK_EVERY_MS = 1_000
const WRITE_USES_EVERY_MS = 5_000

/** Users, teams, service accounts and their API keys; answers who is calling. */
export default definePlugin({
  manifest: {
    id: 'plugin.identity',
    version: '0.1.0',
    contract: 1,
    summary: 'Users, teams, service accounts and API keys.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [auth, teams, users, serviceAccounts],
    commands: [keysCreate],
    needs: ['database', 'schedule', 'clock'],
    migrations: [{ name: '0001_tables', sql: tables }],
    check: checkIdentity,
  },
  async setup(ctx) {
    const { database, schedule, clock, log } = ctx
    const snapshot = createSnapshot(
      { readRevision: () => readRevision(database), readKeys: () => readKeys(database) },
      () => clock.now().getTime(),
    )
    let inReach = true
    const check = async () => {
      try {
        await snapshot.check()
        if (!inReach) log.info('keys are being checked against the database again')
        inReach = true
      } catch (err) {
        if (inReach)
          log.warn({ err }, 'the database cannot be reached; keys are served from memory')
        inReach = false
      }
    }
    const writeUses = async () => {
      const uses = snapshot.takeUses()
      if (uses.size === 0) return
      try {
        await writeLastUsed(database, uses)
      } catch {
        snapshot.returnUses(uses)
      }
    }

    let known: { models: ReadonlySet<string>; quickstartUser: string | undefined } | undefined
    ctx.provide(identity, { ...snapshot, directory: () => readDirectory(database) })
    ctx.provide(healthChecks, { name: 'identity', check: snapshot.health })
    ctx.provide(snapshotListeners, {
      async prepare(config) {
        const entries = {
          teams: config.section(teams),
          users: config.section(users),
          serviceAccounts: config.section(serviceAccounts),
        }
        const { warnings } = await seed(database, seededPublicIds(entries), (existing) =>
          planSeed(entries, existing, () => Bun.randomUUIDv7()),
        )
        for (const { path, message } of warnings) log.warn({ path: path.join('.') }, message)
        const { stale_max_secs, quickstart_user } = config.section(auth)
        await snapshot.check()
        return () => {
          snapshot.setMaxAge(stale_max_secs * 1000)
          known = { models: new Set(config.models.keys()), quickstartUser: quickstart_user }
        }
      },
    })
    ctx.provide(
      commands,
      createKeysCommand(database, clock, () => known),
    )
    ctx.provide(
      welcome,
      createWelcome(database, () => known),
    )

    const stopListening = await database.listen(
      CHANGED,
      () => void check(),
      () => void check(),
    )
    schedule.every(CHECK_EVERY_MS, check)
    schedule.every(WRITE_USES_EVERY_MS, writeUses)
    return async () => {
      await stopListening()
      await writeUses()
    }
  },
})
