import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { createTestDatabase } from './database.ts'
import { ada } from './gateway.ts'

const MAIN = new URL('../../plugins/standard/main.ts', import.meta.url).pathname
const LOAD = new URL('./load.ts', import.meta.url).pathname

/** Without it Bun runs 256 calls at once. */
const MANY_REQUESTS = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65000' }

export interface GatewayProcess {
  /** Changes at a restart. */
  readonly url: string
  readonly pid: number
  readonly databaseUrl: string
  readonly dataDir: string
  /** Every line that it logged, parsed. */
  readonly logs: readonly Record<string, unknown>[]
  /** Replaces the config file; SIGHUP makes the gateway read it. */
  rewrite(config: Record<string, unknown>): void
  signal(signal: NodeJS.Signals): void
  /** Ends it with a signal and waits for its end; resolves to the exit code. */
  end(signal?: NodeJS.Signals): Promise<number>
  /** Starts it again with the same files and database; it must have ended. */
  restart(): Promise<void>
  /** Ends it, if it still runs, and removes its files and its database. */
  remove(): Promise<void>
}

export interface GatewayProcessOptions {
  /** Share this database, and leave it there. */
  readonly databaseUrl?: string
  readonly env?: Readonly<Record<string, string>>
}

/** The gateway as a separate process, as an operator starts it. */
export async function spawnGateway(
  config: Record<string, unknown>,
  options: GatewayProcessOptions = {},
): Promise<GatewayProcess> {
  const database =
    options.databaseUrl === undefined ? await createTestDatabase('started') : undefined
  const databaseUrl = options.databaseUrl ?? (database as { url: string }).url
  const folder = mkdtempSync(join(tmpdir(), 'gateway-process-'))
  const file = join(folder, 'gateway.yaml')
  const dataDir = join(folder, 'data')
  const rewrite = (content: Record<string, unknown>) => {
    const server = { bind: '127.0.0.1:0', log_format: 'json', ...(content.server as object) }
    const database = { url: `literal.${databaseUrl}` }
    writeFileSync(file, stringify({ users: [ada], ...content, server, database }))
  }
  rewrite(config)
  const logs: Record<string, unknown>[] = []

  async function start() {
    const child = Bun.spawn(
      [process.execPath, MAIN, 'serve', '--config', file, '--data-dir', dataDir],
      {
        env: { ...process.env, ...options.env },
        stdout: 'ignore',
        stderr: 'pipe',
      },
    )
    const serving = Promise.withResolvers<string>()
    void readLines(child.stderr, (line) => {
      const entry = line.startsWith('{') ? JSON.parse(line) : { msg: line }
      logs.push(entry)
      if (entry.msg === 'the gateway is serving') serving.resolve(entry.url)
    })
    void child.exited.then((code) =>
      serving.reject(new Error(`the gateway ended with ${code}: ${JSON.stringify(logs)}`)),
    )
    return { child, url: await serving.promise }
  }

  let { child, url } = await start()
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return await child.exited
  }
  return {
    get url() {
      return url
    },
    get pid() {
      return child.pid
    },
    databaseUrl,
    dataDir,
    logs,
    async restart() {
      ;({ child, url } = await start())
    },
    rewrite,
    signal: (signal) => child.kill(signal),
    end,
    async remove() {
      await end('SIGKILL')
      await database?.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export interface LoadRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly count: number
}

export interface LoadResult {
  /** How many replies came with each status; 0 for a failed connection. */
  readonly statuses: Readonly<Record<string, number>>
}

/** Sends `count` requests at once, from a separate process, and waits for all replies. */
export async function sendAtOnce(request: LoadRequest): Promise<LoadResult> {
  const child = Bun.spawn([process.execPath, LOAD], {
    env: { ...process.env, ...MANY_REQUESTS },
    stdin: new Blob([JSON.stringify(request)]),
    stdout: 'pipe',
  })
  return (await new Response(child.stdout).json()) as LoadResult
}

async function readLines(stream: ReadableStream<Uint8Array>, take: (line: string) => void) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') take(line)
  }
}

/** A port on which no process listens. */
export function freePort(): number {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = server
  server.stop(true)
  return port
}
