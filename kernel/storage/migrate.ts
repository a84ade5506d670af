import { createHash } from 'node:crypto'
import type { ReservedSql, Sql } from 'postgres'
import type { Migration } from '../plugin/index.ts'
import { DatabaseError } from './database.ts'
import { schemaName } from './schema-name.ts'

/** Advisory lock held while migrating; any number that nothing else locks. */
const LOCK = '7307100601'

/** The migrations of the database and those of the program do not match. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
  readonly plugin: string
  constructor(plugin: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.plugin = plugin
  }
}

export interface PluginMigrations {
  readonly plugin: string
  readonly migrations: readonly Migration[]
}

export interface MigrationName {
  readonly plugin: string
  readonly name: string
}

interface Applied extends MigrationName {
  readonly checksum: string
}

/**
 * Applies the pending migrations of each plugin, each in its own transaction with the plugin's
 * schema as search path. Processes take turns. Returns what this call applied. Throws
 * MigrationError, and earlier migrations stay applied. Throws DatabaseError if nothing can be
 * written.
 */
export async function migrate(
  sql: Sql,
  plugins: readonly PluginMigrations[],
): Promise<MigrationName[]> {
  for (const plugin of plugins) checkNames(plugin)
  const session = await sql.reserve()
  try {
    await session`select pg_advisory_lock(${LOCK}::bigint)`
    try {
      return await applyPending(session, plugins)
    } finally {
      await unlessLost(session`select pg_advisory_unlock(${LOCK}::bigint)`)
    }
  } finally {
    session.release()
  }
}

/** Returns what `migrate` would apply, without changes. Throws MigrationError as it would. */
export async function pendingMigrations(
  sql: Sql,
  plugins: readonly PluginMigrations[],
): Promise<MigrationName[]> {
  for (const plugin of plugins) checkNames(plugin)
  const applied = await readApplied(sql)
  return plugins.flatMap((plugin) =>
    pendingOf(plugin, applied).map(({ name }) => ({ plugin: plugin.plugin, name })),
  )
}

async function applyPending(
  session: ReservedSql,
  plugins: readonly PluginMigrations[],
): Promise<MigrationName[]> {
  await makeBookkeeping(session)
  const applied = await readApplied(session)
  const done: MigrationName[] = []
  for (const plugin of plugins) {
    for (const migration of pendingOf(plugin, applied)) {
      await apply(session, plugin.plugin, migration)
      done.push({ plugin: plugin.plugin, name: migration.name })
    }
  }
  return done
}

const INSUFFICIENT_PRIVILEGE = '42501'

/** The first write, so it throws DatabaseError if nothing can be written. */
async function makeBookkeeping(session: ReservedSql): Promise<void> {
  try {
    await session.unsafe(`
      create schema if not exists kernel;
      create table if not exists kernel.migrations (
        plugin text not null,
        name text not null,
        checksum text not null,
        applied_at timestamptz not null default now(),
        primary key (plugin, name)
      )`)
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string }
    const remedy =
      code === INSUFFICIENT_PRIVILEGE
        ? '; the role in database.url must own the database or have CREATE on it'
        : ''
    throw new DatabaseError(`the database cannot be migrated: ${message}${remedy}`, { cause })
  }
}

async function apply(session: ReservedSql, plugin: string, migration: Migration): Promise<void> {
  const schema = schemaName(plugin)
  try {
    await session.unsafe(
      `begin; create schema if not exists "${schema}"; set local search_path to "${schema}"`,
    )
    await session.unsafe(migration.sql)
    await session`
      insert into kernel.migrations (plugin, name, checksum)
      values (${plugin}, ${migration.name}, ${checksum(migration)})`
    await session.unsafe('commit')
  } catch (cause) {
    await unlessLost(session.unsafe('rollback'))
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new MigrationError(plugin, `migration ${migration.name} of ${plugin} failed: ${reason}`, {
      cause,
    })
  }
}

/** A lost session loses its transaction and lock, so report the loss instead of later errors. */
async function unlessLost(end: PromiseLike<unknown>): Promise<void> {
  await end.then(undefined, () => {})
}

async function readApplied(sql: Sql | ReservedSql): Promise<readonly Applied[]> {
  const [bookkeeping] = await sql`select to_regclass('kernel.migrations') as found`
  if (bookkeeping?.found == null) return []
  return await sql<Applied[]>`select plugin, name, checksum from kernel.migrations order by name`
}

function checkNames({ plugin, migrations }: PluginMigrations): void {
  let previous = ''
  for (const { name } of migrations) {
    if (!/^[0-9]{4}_[a-z0-9_]+$/.test(name)) {
      throw new MigrationError(
        plugin,
        `migration ${name} of ${plugin}: the name must look like 0001_name`,
      )
    }
    if (name.slice(0, 4) <= previous) {
      throw new MigrationError(plugin, `migration ${name} of ${plugin}: the numbers must ascend`)
    }
    previous = name.slice(0, 4)
  }
}

/** The migrations after the last applied one. Throws unless the applied ones are the first. */
function pendingOf(
  { plugin, migrations }: PluginMigrations,
  allApplied: readonly Applied[],
): readonly Migration[] {
  const applied = allApplied.filter((row) => row.plugin === plugin)
  applied.forEach((row, i) => {
    const migration = migrations[i]
    if (migration?.name !== row.name) {
      throw new MigrationError(
        plugin,
        migrations.some((known) => known.name === row.name)
          ? `migration ${migration?.name} of ${plugin} is missing in the database, which already has the later ${row.name}`
          : `the database has migration ${row.name} of ${plugin}, which this version does not know: a newer version has used it`,
      )
    }
    if (checksum(migration) !== row.checksum) {
      throw new MigrationError(
        plugin,
        `migration ${row.name} of ${plugin} was changed after it was applied: add a new one instead`,
      )
    }
  })
  return migrations.slice(applied.length)
}

function checksum(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex')
}
