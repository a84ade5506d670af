import type { Logger } from 'pino'
import type { LoadedPlugin } from '../config/loaded.ts'
import { PluginError } from '../registry/registry.ts'
import { type OpenDatabase, openDatabase, type StartDatabase } from '../storage/database.ts'
import {
  MigrationError,
  migrate,
  type PluginMigrations,
  pendingMigrations,
} from '../storage/migrate.ts'
import { type ReadConfig, requireLoaded } from './read-config.ts'

/**
 * Applies the pending migrations of a config's database, or only lists them (`check`), and returns
 * them. Starts no plugin. Throws StartError for a config with errors, and MigrationError.
 */
export async function migrateFor(
  config: ReadConfig,
  options: {
    readonly check: boolean
    readonly startDatabase: StartDatabase
    readonly dataDir: string
  },
) {
  const { startDatabase, dataDir } = options
  const { sql, close } = await openDatabase(
    requireLoaded(config).databaseUrl?.reveal() ?? (() => startDatabase({ dataDir, attach: true })),
  )
  try {
    const migrations = migrationsOf(config.plugins)
    return await (options.check ? pendingMigrations(sql, migrations) : migrate(sql, migrations))
  } finally {
    await close()
  }
}

/** Migrates for all plugins; returns why optional plugins (`on_boot_failure`) could not. */
export async function migrateAll(
  { sql }: OpenDatabase,
  plugins: readonly LoadedPlugin[],
  log: Logger,
): Promise<ReadonlyMap<string, unknown>> {
  const broken = new Map<string, unknown>()
  const dispensable = plugins.filter(({ onBootFailure }) => onBootFailure === 'disable')
  const needed = plugins.filter((plugin) => !dispensable.includes(plugin))
  let applied = 0
  for (const group of [needed, ...dispensable.map((plugin) => [plugin])]) {
    try {
      applied += (await migrate(sql, migrationsOf(group))).length
    } catch (error) {
      if (!(error instanceof MigrationError)) throw error
      const failed = group.find(({ plugin }) => plugin.manifest.id === error.plugin)
      if (failed === undefined) throw error
      if (failed.onBootFailure !== 'disable') throw new PluginError(failed, error)
      broken.set(error.plugin, error)
    }
  }
  if (applied > 0) log.info({ migrations: applied }, 'database migrated')
  return broken
}

function migrationsOf(plugins: readonly LoadedPlugin[]): PluginMigrations[] {
  return plugins.map(({ plugin: { manifest } }) => ({
    plugin: manifest.id,
    migrations: manifest.migrations ?? [],
  }))
}
