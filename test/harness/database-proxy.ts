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
  /** Breaks all connections, and ends new ones at once, in order. */
  hangUp(): void
  /** Breaks all connections; new ones are fine. */
  reset(): void
  /** The connections that are open stay so and are silent for ever; new ones are fine. */
  lose(): void
  /** Makes the next statement with this text in it one that the server refuses. */
  spoil(text: string): void
  /** Everything passes again; what was frozen arrives late. */
  pass(): void
  close(): void
}

export async function createDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl)
  const pairs = new Set<Pair>()
  let mode: 'pass' | 'frozen' | 'refusing' | 'hanging up' = 'pass'
  let spoiled: string | undefined

  const server = createServer((near) => {
    near.on('error', () => {})
    if (mode === 'refusing') {
      near.resetAndDestroy()
      return
    }
    if (mode === 'hanging up') {
      near.end()
      return
    }
    const far = connect(Number(target.port), target.hostname)
    far.on('error', () => {})
    const pair: Pair = [near, far]
    pairs.add(pair)
    near.on('data', (bytes: Buffer) => far.write(spoil(bytes)))
    far.on('data', (bytes) => near.write(bytes))
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
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

  const spoil = (bytes: Buffer) => {
    const text = bytes.toString('latin1')
    if (spoiled === undefined || !text.includes(spoiled)) return bytes
    const changed = text.replace(spoiled, '#'.repeat(spoiled.length))
    spoiled = undefined
    return Buffer.from(changed, 'latin1')
  }
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
    hangUp() {
      mode = 'hanging up'
      reset()
    },
    reset,
    lose() {
      for (const pair of pairs) for (const socket of pair) socket.pause()
      pairs.clear()
    },
    spoil(text) {
      spoiled = text
    },
    pass() {
      mode = 'pass'
      for (const pair of pairs) for (const socket of pair) socket.resume()
    },
    close() {
      server.close()
    },
  }
}
