import { connect, createServer, type Socket } from 'node:net'

type Pair = readonly [Socket, Socket]

/** Stands between a gateway and its Postgres, and can be in the way. */
export interface DatabaseProxy {
  /** The database, as it is reached through here. */
  readonly url: string
  /** Connections stay open, and nothing passes, in either direction. */
  freeze(): void
  /** Breaks all connections and refuses new ones. */
  refuse(): void
  /** Breaks all connections; new ones are fine. */
  reset(): void
  /** Everything passes again; what was frozen arrives late. */
  pass(): void
  close(): void
}

export async function createDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl)
  const pairs = new Set<Pair>()
  let mode: 'pass' | 'frozen' | 'refusing' = 'pass'

  const server = createServer((near) => {
    near.on('error', () => {})
    if (mode === 'refusing') {
      near.resetAndDestroy()
      return
    }
    const far = connect(Number(target.port), target.hostname)
    far.on('error', () => {})
    const pair: Pair = [near, far]
    pairs.add(pair)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => to.write(bytes))
      from.on('close', () => {
        pairs.delete(pair)
        to.destroy()
      })
    }
    if (mode === 'frozen') for (const socket of pair) socket.pause()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${port}`

  const reset = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy()
  }
  return {
    url: url.href,
    freeze() {
      mode = 'frozen'
      for (const pair of pairs) for (const socket of pair) socket.pause()
    },
    refuse() {
      mode = 'refusing'
      reset()
    },
    reset,
    pass() {
      mode = 'pass'
      for (const pair of pairs) for (const socket of pair) socket.resume()
    },
    close() {
      server.close()
    },
  }
}
