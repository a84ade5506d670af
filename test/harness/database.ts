import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import type { Database, Migration } from '../../kernel/plugin/index.ts'
import { type OpenDatabase, openDatabase } from '../../kernel/storage/database.ts'
import { migrate } from '../../kernel/storage/migrate.ts'
import { openEmbedded } from '../../plugins/embedded-postgres/index.ts'
import { STARTED, templateDirectory } from './database-template.ts'

let server: Promise<OpenDatabase> | undefined

/** The one embedded Postgres of this test process, started when first asked for. */
export function testServer(): Promise<OpenDatabase> {
  server ??= startServer()
  return server
}

async function startServer(): Promise<OpenDatabase> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-test-'))
  removeAfterThisProcess(dataDir)
  // Keeps modes and owners: as root, Postgres runs under another account.
  execFileSync('cp', ['-a', `${await templateDirectory()}/.`, dataDir])
  return await openDatabase(() => openEmbedded({ dataDir }))
}

/**
 * Waits for the end of its standard input, then of Postgres. At the end of a file the test runner
 * kills the children that are left: what removes the files is a child of the one that it kills.
 */
const REMOVER = `exec 3<&0
(cat <&3; while [ -e "$1/postgres/postmaster.pid" ]; do sleep 0.1; done; rm -rf "$1") >/dev/null &
wait`

/**
 * Postgres ends with this process, whatever ends it; a shell that waits for the same end of a pipe
 * removes the files then. The test runner fires no `exit` event.
 */
function removeAfterThisProcess(dataDir: string): void {
  const remover = spawn('/bin/sh', ['-c', REMOVER, 'sh', dataDir], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  remover.unref()
}

export interface TestDatabase extends Pick<OpenDatabase, 'endSilent'> {
  readonly url: string
  readonly sql: Sql
  /** The capability of a plugin whose migrations have been applied. */
  forPlugin(pluginId: string, migrations: readonly Migration[]): Promise<Database>
  /** Closes the pool and drops the database. */
  drop(): Promise<void>
}

/** A new database: an empty one, or one as a gateway without users leaves it after its first start. */
export async function createTestDatabase(
  contents: 'empty' | 'started' = 'empty',
): Promise<TestDatabase> {
  const main = await testServer()
  const name = `test_${randomBytes(6).toString('hex')}`
  const template = contents === 'started' ? `template ${STARTED}` : ''
  await main.sql.unsafe(`create database ${name} ${template}`)
  const url = new URL(main.url)
  url.pathname = `/${name}`
  const database = await openDatabase(url.href)
  return {
    url: url.href,
    sql: database.sql,
    endSilent: database.endSilent,
    async forPlugin(pluginId, migrations) {
      await migrate(database.sql, [{ plugin: pluginId, migrations }])
      return database.forPlugin(pluginId)
    },
    async drop() {
      await database.close()
      await main.sql.unsafe(`drop database if exists ${name} with (force)`)
    },
  }
}
