import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts'

const MAIN = new URL('../../../plugins/standard/main.ts', import.meta.url).pathname

let folder: string
let dataDir: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-serve-'))
  dataDir = join(folder, 'data')
  // As root, Postgres runs under another account, which has to pass through.
  chmodSync(folder, 0o711)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** `gateway serve` with the quick start config and, without a URL, its own database. */
function serve(env: Record<string, string | undefined> = {}) {
  const child = Bun.spawn([process.execPath, MAIN, 'serve', '--data-dir', dataDir], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: undefined, GATEWAY_BIND: '127.0.0.1:0', ...env },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  let errors = ''
  const read = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stderr) errors += decoder.decode(chunk)
  })()
  return {
    child,
    errors: () => errors,
    /** Waits for its end: exit code, the signal that ended it, if any, and standard error. */
    async end() {
      await child.exited
      await read
      return { code: child.exitCode, killedBy: child.signalCode, errors }
    },
  }
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`never: ${what}`)
    await Bun.sleep(1)
  }
}

/** Command lines of the processes that work on the data directory. */
function running(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return /^\d+$/.test(name) && line.includes(dataDir) ? [line] : []
    } catch {
      return []
    }
  })
}

/** The shell that watches over the database ends a moment after it. */
async function leavesNothingRunning(): Promise<void> {
  await until('nothing is left', () => running().length === 0)
}

async function startsAgainAndEnds(): Promise<void> {
  const again = serve()
  await until('the gateway serves', () => again.errors().includes('the gateway is serving'))
  again.child.kill('SIGTERM')
  expect(await again.end()).toMatchObject({ code: 0, killedBy: null })
  await leavesNothingRunning()
}

const inDataDir = (name: string) => () => existsSync(join(dataDir, name))
const moments: readonly (readonly [string, (errors: string) => boolean])[] = [
  ['it takes the data directory', inDataDir('postgres.lock')],
  ['the database is made', inDataDir('postgres.new/data')],
  ['the database starts', inDataDir('postgres/postmaster.pid')],
  ['the database is migrated', inDataDir('database-url')],
  ['plugins are set up', (errors) => errors.includes('database migrated')],
  ['it begins to serve', inDataDir('accounting')],
]

describe('a signal during the start', () => {
  test.each(moments)('while %s ends it in order', async (moment, isThere) => {
    const { child, end, errors } = serve()
    await until(moment, () => isThere(errors()))
    child.kill('SIGTERM')
    const ended = await end()
    expect(ended).toMatchObject({ code: 0, killedBy: null })
    expect(ended.errors).toContain('"signal":"SIGTERM"')
    expect(ended.errors).not.toContain('"level":60')
    await leavesNothingRunning()
    await startsAgainAndEnds()
  })

  test('ends it before it serves', async () => {
    const { child, end } = serve()
    await until('the data directory is taken', inDataDir('postgres.lock'))
    child.kill('SIGINT')
    const { code, errors } = await end()
    expect([code, errors]).toEqual([0, expect.stringContaining('"signal":"SIGINT"')])
    expect(errors).not.toContain('the gateway is serving')
    expect(errors).not.toContain('database migrated')
  })
})

describe('beside other processes', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database?.drop())

  /** A gateway that waits for another one, which migrates the database, until `use` is over. */
  async function whileWaiting(use: (gateway: ReturnType<typeof serve>) => Promise<void>) {
    const other = await database.sql.reserve()
    await other`select pg_advisory_lock(7307100601::bigint)`
    try {
      const gateway = serve({ DATABASE_URL: database.url })
      const waiting = () =>
        database.sql`select from pg_locks where locktype = 'advisory' and not granted`
      while ((await waiting()).length === 0) await Bun.sleep(10)
      await use(gateway)
    } finally {
      await other`select pg_advisory_unlock_all()`
      other.release()
    }
  }

  test('a gateway that waits for another one to migrate can be ended', () =>
    whileWaiting(async ({ child, end }) => {
      child.kill('SIGTERM')
      expect(await end()).toMatchObject({ code: 0, killedBy: null })
    }))

  test('a second signal, of either kind, ends it at once', () =>
    whileWaiting(async ({ child, end }) => {
      child.kill('SIGINT')
      await Bun.sleep(500)
      expect(child.exitCode).toBeNull()
      child.kill('SIGTERM')
      expect(await end()).toMatchObject({ killedBy: 'SIGTERM' })
    }))

  test('an address in use is told in one line, and the database is stopped', async () => {
    const other = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(),
    })
    const { code, errors } = await serve({ GATEWAY_BIND: `127.0.0.1:${other.port}` }).end()
    expect(code).toBe(1)
    const lines = errors.trimEnd().split('\n')
    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([
      `gateway: cannot listen on 127.0.0.1:${other.port} (server.bind, or GATEWAY_BIND): another process uses the port; stop it, or choose another port`,
    ])
    expect(errors).not.toContain('"level":60')
    await leavesNothingRunning()
    await other.stop(true)
    await startsAgainAndEnds()
  })
})
