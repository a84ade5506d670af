import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, startEmbedded } from '../../plugins/embedded-postgres/index.ts'
import { templateDirectory } from './database-template.ts'
import { childrenOf } from './process-tree.ts'

/** A Postgres server for one test, which can do to it what happens to servers. */
export interface OwnPostgres {
  /** The same before and after a restart. */
  readonly url: string
  /** Shuts it down; connections are refused from then on. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Stops all its processes in their tracks (SIGSTOP): connections stay open and silent. */
  freeze(): void
  thaw(): void
  remove(): Promise<void>
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-postgres-'))
  // As root, Postgres runs under another account, which must be able to reach its files.
  chmodSync(dataDir, 0o711)
  execFileSync('cp', ['-a', `${await templateDirectory()}/.`, dataDir])
  let server: EmbeddedPostgres | undefined = await startEmbedded({ dataDir })
  const sockets = new Set<Socket>()

  // The port of the server changes at each start; the port of this proxy stays.
  const door = createServer((caller) => {
    if (server === undefined) return caller.destroy()
    const { hostname, port } = new URL(server.url)
    const inside = connect(Number(port), hostname)
    for (const socket of [caller, inside]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        caller.destroy()
        inside.destroy()
      })
    }
    caller.pipe(inside)
    inside.pipe(caller)
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  const url = new URL(server.url)
  url.port = String((door.address() as { port: number }).port)

  const signalAll = (signal: NodeJS.Signals) => {
    const postmaster = Number(
      readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0],
    )
    for (const pid of [postmaster, ...childrenOf(postmaster)]) process.kill(pid, signal)
  }

  return {
    url: url.href,
    async stop() {
      const running = server
      server = undefined
      for (const socket of sockets) socket.destroy()
      await running?.stop()
    },
    async start() {
      server = await startEmbedded({ dataDir })
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async remove() {
      door.close()
      for (const socket of sockets) socket.destroy()
      await server?.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
