import type { Socket } from 'bun'

/** A TCP relay in front of a Postgres server. */
export interface Wire {
  /** The same database through the relay. */
  readonly url: string
  /** Round trips so far: each is a simple query or a batch of extended messages. */
  readonly roundTrips: number
  /** Delays everything that the server sends by this many milliseconds, from now on. */
  delay(ms: number): void
  stop(): void
}

/** Types of messages after which a client waits for the server: Query and Sync. */
const WAITS = new Set([0x51, 0x53])

/** One end of a connection. Writes stay in order when the other side reads slowly. */
function outlet() {
  const waiting: Buffer[] = []
  let socket: Socket<unknown> | undefined
  function flush() {
    while (socket !== undefined && waiting.length > 0) {
      const bytes = waiting[0] as Buffer
      const written = Math.max(0, socket.write(bytes))
      if (written < bytes.length) {
        waiting[0] = bytes.subarray(written)
        return
      }
      waiting.shift()
    }
  }
  return {
    attach(to: Socket<unknown>) {
      socket = to
      flush()
    },
    flush,
    write(bytes: Buffer) {
      waiting.push(bytes)
      flush()
    },
    end: () => socket?.end(),
  }
}

interface Connection {
  readonly client: ReturnType<typeof outlet>
  readonly server: ReturnType<typeof outlet>
  readonly count: (data: Buffer) => number
}

export function startWire(databaseUrl: string): Wire {
  const target = new URL(databaseUrl)
  let roundTrips = 0
  let delayMs = 0

  const listener = Bun.listen<Connection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        const connection = { client: outlet(), server: outlet(), count: roundTripCounter() }
        socket.data = connection
        connection.client.attach(socket)
        const ends = () => void connection.client.end()
        Bun.connect({
          hostname: target.hostname,
          port: Number(target.port),
          socket: {
            open: (server) => connection.server.attach(server),
            data(_, data) {
              const bytes = Buffer.from(data)
              if (delayMs === 0) connection.client.write(bytes)
              else setTimeout(() => connection.client.write(bytes), delayMs)
            },
            drain: () => connection.server.flush(),
            close: ends,
            error: ends,
          },
        }).catch(ends)
      },
      data({ data: { server, count } }, data) {
        roundTrips += count(data)
        server.write(Buffer.from(data))
      },
      drain: ({ data: { client } }) => client.flush(),
      close: ({ data: { server } }) => void server.end(),
      error: ({ data: { server } }) => void server.end(),
    },
  })

  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${listener.port}`
  return {
    url: url.href,
    get roundTrips() {
      return roundTrips
    },
    delay(ms) {
      delayMs = ms
    },
    stop: () => listener.stop(true),
  }
}

/** Counts the messages of a client after which it waits for the server. Pieces may end anywhere. */
export function roundTripCounter(): (data: Buffer) => number {
  let rest = Buffer.alloc(0)
  /** Remaining bytes of the current message, which are skipped. */
  let skip = 0
  /** Whether the first message, which has no type, has been read. */
  let started = false
  return (data) => {
    let found = 0
    let bytes = rest.length === 0 ? data : Buffer.concat([rest, data])
    for (;;) {
      const skipped = Math.min(skip, bytes.length)
      skip -= skipped
      bytes = bytes.subarray(skipped)
      const head = started ? 5 : 4
      if (skip > 0 || bytes.length < head) break
      if (started && WAITS.has(bytes[0] as number)) found++
      // The length includes its four bytes, but not the type in front of it.
      skip = bytes.readInt32BE(head - 4) + head - 4
      started = true
    }
    rest = Buffer.from(bytes)
    return found
  }
}
