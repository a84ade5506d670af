import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Account, type Binaries, childEnvironment } from './binaries.ts'

/** Time limit of each shutdown signal, before a stronger one is sent. */
const STOP_PATIENCE_MS = 10_000
const START_ATTEMPTS = 5
const RESTART_PAUSE_MS = 500
const READY = 'database system is ready to accept connections'

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '50',
  shared_buffers: '64MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // No I/O worker processes: the data of a laptop fits in the page cache.
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statement errors go to the client only, because statements contain callers' data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
}

/**
 * Standard input is a pipe held by this process. When the process ends, even by SIGKILL, the pipe
 * closes and Postgres receives the signal for a fast shutdown.
 */
const WITH_ITS_PARENT = `exec 3<&0
(cat <&3 >/dev/null 2>&1; kill -INT $$) >/dev/null 2>&1 &
exec "$@" 3<&- </dev/null`

export async function initialise(
  initdb: string,
  directory: string,
  passwordFile: string,
  account: Account,
): Promise<void> {
  const child = spawn(
    initdb,
    [
      `--pgdata=${directory}`,
      `--pwfile=${passwordFile}`,
      '--username=gateway',
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
    ],
    { ...account, cwd: '/', env: childEnvironment, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const output = collectLines(child, () => {})
  const code = await exited(child)
  if (code !== 0) {
    throw new Error(`the embedded Postgres could not be initialised:\n${output.join('\n')}`)
  }
}

interface ServerOptions {
  readonly binaries: Binaries
  readonly cluster: string
  readonly account: Account
  readonly log: (line: string) => void
}

export interface Server {
  readonly port: number
  stop(): Promise<void>
}

/** Starts Postgres and keeps it running, on the same port, until `stop`. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { log } = options
  let stopping = false
  let child: ChildProcess
  let port = 0

  for (let attempt = 1; ; attempt++) {
    port = await freePort()
    try {
      child = await launch(options, port)
      break
    } catch (error) {
      // Another process may have taken the port since it was found free.
      if (attempt === START_ATTEMPTS || !String(error).includes('could not bind')) throw error
    }
  }

  const supervise = () => {
    child.once('exit', async (code, signal) => {
      while (!stopping) {
        log(`embedded Postgres ended (${signal ?? `code ${code}`}); starting it again`)
        await Bun.sleep(RESTART_PAUSE_MS)
        if (stopping) return
        try {
          child = await launch(options, port)
          if (stopping) await shutDown(child)
          else supervise()
          return
        } catch (error) {
          log(String(error))
        }
      }
    })
  }
  supervise()

  return {
    port,
    async stop() {
      stopping = true
      await shutDown(child)
    },
  }
}

async function launch(options: ServerOptions, port: number): Promise<ChildProcess> {
  const flags = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const command = [options.binaries.postgres, '-D', options.cluster, ...flags]
  const child = spawn('/bin/sh', ['-c', WITH_ITS_PARENT, 'sh', ...command], {
    ...options.account,
    cwd: '/',
    env: childEnvironment,
    stdio: ['pipe', 'ignore', 'pipe'],
    // A separate session, because Ctrl-C in the terminal is for the gateway, which still has to
    // drain.
    detached: true,
  })
  child.stdin?.on('error', () => {})
  // The child must not keep this process alive; the pipe stops it.
  child.unref()

  const ready = Promise.withResolvers<void>()
  const output = collectLines(child, (line) => {
    if (line.includes(READY)) ready.resolve()
    options.log(line)
  })
  child.once('error', (error) => ready.reject(error))
  child.once('exit', () => {
    ready.reject(new Error(`the embedded Postgres did not start:\n${output.join('\n')}`))
  })
  await ready.promise
  return child
}

/** Passes on each line of standard error; returns the last lines for error messages. */
function collectLines(child: ChildProcess, line: (text: string) => void): string[] {
  const last: string[] = []
  let rest = ''
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) {
      last.push(text)
      if (last.length > 20) last.shift()
      line(text)
    }
  })
  return last
}

function exited(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code))
  })
}

async function shutDown(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const over = exited(child)
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGQUIT'), STOP_PATIENCE_MS)
  await over
  clearTimeout(timer)
}

/**
 * Stops the server that a killed gateway left on this cluster. The caller holds the lock, so no
 * gateway uses that server.
 */
export async function stopLeftover(cluster: string): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid')
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!isServerOf(pid, cluster)) return
    process.kill(pid, signal)
    const deadline = Date.now() + STOP_PATIENCE_MS
    while (isServerOf(pid, cluster) && Date.now() < deadline) await Bun.sleep(20)
  }
}

/** Whether the process is a Postgres on this cluster, rather than a later owner of the same pid. */
function isServerOf(pid: number, cluster: string): boolean {
  if (!Number.isInteger(pid) || pid <= 1) return false
  return commandOf(pid).includes(` -D ${cluster} `)
}

function commandOf(pid: number): string {
  if (process.platform !== 'linux') {
    return Bun.spawnSync(['ps', '-o', 'args=', '-p', String(pid)]).stdout.toString()
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() =>
        address !== null && typeof address === 'object'
          ? resolve(address.port)
          : reject(new Error('no free port')),
      )
    })
  })
}
