import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts'
import { templateDirectory } from '../../harness/database-template.ts'

const MAIN = new URL('../../../plugins/standard/main.ts', import.meta.url).pathname

let folder: string
let dataDir: string
const makeFolder = () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-serve-'))
  dataDir = join(folder, 'data')
  // As root, Postgres runs under another account, which must be able to enter the folder.
  chmodSync(folder, 0o711)
}
const removeFolder = () => rmSync(folder, { recursive: true, force: true })

/** Fills the data directory with a database without tables of a gateway, which saves its `initdb`. */
async function copyDatabase() {
  execFileSync('cp', ['-a', await templateDirectory(), dataDir])
}

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

/** Command lines of the processes that use the data directory. */
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

/** The shell that watches the database ends shortly after it. */
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

/** Ends a start at a moment, whose trace an earlier start may have left. */
async function endsInOrderWhile(
  moment: string,
  isThere: (errors: string) => boolean,
  signal: NodeJS.Signals = 'SIGTERM',
) {
  for (const name of ['database-url', 'accounting']) {
    rmSync(join(dataDir, name), { recursive: true, force: true })
  }
  const { child, end, errors } = serve()
  await until(moment, () => isThere(errors()))
  child.kill(signal)
  const ended = await end()
  expect(ended).toMatchObject({ code: 0, killedBy: null })
  expect(ended.errors).toContain(`"signal":"${signal}"`)
  expect(ended.errors).not.toContain('"level":60')
  await leavesNothingRunning()
  return ended.errors
}

// Each start uses the data directory of the start before, and so shows that its end left it usable.
describe('a signal during the first start', () => {
  beforeAll(makeFolder)
  afterAll(removeFolder)

  test('while it takes the data directory ends it before it serves', async () => {
    const errors = await endsInOrderWhile('it takes it', inDataDir('postgres.lock'), 'SIGINT')
    expect(errors).not.toContain('the gateway is serving')
    expect(errors).not.toContain('database migrated')
  })

  test.each([
    ['the database starts', 'postgres/postmaster.pid'],
    ['the database is migrated', 'database-url'],
  ])('while %s ends it in order', async (moment, file) => {
    await endsInOrderWhile(moment, inDataDir(file))
  })

  test('while the database is created ends it in order', async () => {
    rmSync(dataDir, { recursive: true })
    await endsInOrderWhile('the database is created', inDataDir('postgres.new/data'))
  })

  test('leaves a data directory that a later start can use', startsAgainAndEnds)
})

describe('a signal during the start on a database', () => {
  beforeAll(async () => {
    makeFolder()
    await copyDatabase()
  })
  afterAll(removeFolder)

  test('while plugins are set up ends it in order', async () => {
    await endsInOrderWhile('it is migrated', (errors) => errors.includes('database migrated'))
  })

  test('while it begins to serve ends it in order', async () => {
    await endsInOrderWhile('it begins to serve', inDataDir('accounting'))
  })

  test('leaves a data directory that a later start can use', startsAgainAndEnds)
})

describe('next to other processes', () => {
  let database: TestDatabase
  beforeAll(async () => {
    makeFolder()
    await copyDatabase()
    database = await createTestDatabase()
  })
  afterAll(async () => {
    await database?.drop()
    removeFolder()
  })

  /** Calls `use` with a gateway that waits because another one migrates the database. */
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

  test('a gateway that waits for another one to migrate ends on a signal', () =>
    whileWaiting(async ({ child, end }) => {
      child.kill('SIGTERM')
      expect(await end()).toMatchObject({ code: 0, killedBy: null })
    }))

  test('a second signal, also of another kind, ends it at once', () =>
    whileWaiting(async ({ child, end }) => {
      child.kill('SIGINT')
      // It takes the signal, and goes on waiting.
      await Bun.sleep(500)
      expect(child.exitCode).toBeNull()
      child.kill('SIGTERM')
      expect(await end()).toMatchObject({ killedBy: 'SIGTERM' })
    }))

  test('an address in use is an error of one line, and the database is stopped', async () => {
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
  })
})
