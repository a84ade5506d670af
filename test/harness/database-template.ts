import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pino } from 'pino'

const ROOT = resolve(import.meta.dir, '../..')
const MIGRATIONS = join(ROOT, 'migrations')

/** Name of the template database in which a gateway has started once. */
export const STARTED = 'started'

/**
 * A data directory of Postgres to copy, made once per machine, package and set of
 * migrations, because `initdb` and the first start of a gateway take a second of a processor each.
 * Processes that make it at the same time each make one, and the first to finish wins.
 */
export async function templateDirectory(): Promise<string> {
  const path = join(tmpdir(), `gateway-test-template-${process.getuid?.()}-${fingerprint()}`)
  if (!existsSync(path)) await makeTemplate(path)
  return path
}

function fingerprint(): string {
  // The package names the version of Postgres.
  const hash = createHash('sha256').update(readFileSync(join(ROOT, 'package.json')))
  for (const file of readdirSync(MIGRATIONS, { recursive: true, encoding: 'utf8' }).sort()) {
    if (file.endsWith('.sql')) hash.update(file).update(readFileSync(join(MIGRATIONS, file)))
  }
  return hash.digest('hex').slice(0, 16)
}

async function makeTemplate(path: string): Promise<void> {
  const unfinished = mkdtempSync(`${path}-`)
  // As root, Postgres runs under another account, which has to get to its files.
  chmodSync(unfinished, 0o711)
  const { openEmbedded } = await import('../../plugins/embedded-postgres/index.ts')
  const { openDatabase } = await import('../../kernel/storage/database.ts')
  const database = await openDatabase(() => openEmbedded({ dataDir: unfinished }))
  await database.sql.unsafe(`create database ${STARTED} is_template true`)
  const url = new URL(database.url)
  url.pathname = `/${STARTED}`
  await startOnce(url.href, unfinished)
  await database.close()
  // No test pulls the plug of its machine.
  appendFileSync(join(unfinished, 'postgres/postgresql.conf'), 'fsync = off\n')
  try {
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { recursive: true })
    if (!existsSync(path)) throw error
  }
}

async function startOnce(databaseUrl: string, dataDir: string): Promise<void> {
  // Loaded by the one process that needs them.
  const { startGateway } = await import('../../kernel/boot/start.ts')
  const { builtins, providedBy } = await import('../../plugins/standard/builtins.ts')
  const config = { server: { bind: '127.0.0.1:0' }, database: { url: `literal.${databaseUrl}` } }
  const gateway = await startGateway({
    source: { text: JSON.stringify(config), file: join(dataDir, 'gateway.yaml') },
    builtins,
    providedBy,
    startDatabase: () => Promise.reject(new Error('the database is there already')),
    dataDir,
    env: {},
    log: pino({ level: 'silent' }),
  })
  await gateway.stop()
}
