import { createServer, type Socket } from 'node:net'

/** A request as it came over the wire. */
export interface WireRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names in lower case; a repeated header keeps its last value. */
  readonly headers: Readonly<Record<string, string>>
  readonly rawBody: string
}

/** The caller's end of one connection. Once it has gone, sending does nothing. */
export interface Wire {
  /** Aborts when the connection ends before the reply does. */
  readonly gone: AbortSignal
  /** Resolves when the operating system has taken the bytes, or the caller has gone. */
  send(bytes: string | Uint8Array): Promise<void>
  /** Ends the connection with a TCP reset. */
  reset(): void
  /** Ends the connection with a FIN. */
  close(): void
}

export interface WireServer {
  readonly port: number
  stop(): Promise<void>
}

const HEAD_END = Buffer.from('\r\n\r\n')

/**
 * HTTP/1.1 on a loopback port, down to the bytes: a test upstream has to break the protocol where a
 * server library would not. `answer` resolves when its reply is complete; requests on one
 * connection come one after another. Request bodies need a content-length.
 */
export async function serveWire(
  answer: (request: WireRequest, wire: Wire) => Promise<void>,
): Promise<WireServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    handleConnection(socket, answer)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      return closed
    },
  }
}

function handleConnection(
  socket: Socket,
  answer: (request: WireRequest, wire: Wire) => Promise<void>,
): void {
  const connection = new AbortController()
  socket.on('close', () => connection.abort())
  // A caller that half-closes has left, too: HTTP callers wait for their reply with both ends open.
  socket.on('end', () => socket.destroy())

  let pieces: Buffer[] = []
  let size = 0
  let bodyStart = 0
  let needed = 0
  let head: Omit<WireRequest, 'rawBody'> | undefined
  let busy = false

  function advance(): void {
    if (busy || socket.destroyed) return
    if (head === undefined) {
      const bytes = joined()
      const end = bytes.indexOf(HEAD_END)
      if (end < 0) return
      head = parseHead(bytes.toString('latin1', 0, end))
      if (head.headers['transfer-encoding'] !== undefined) {
        socket.end('HTTP/1.1 411 Length Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
        return
      }
      bodyStart = end + HEAD_END.length
      needed = bodyStart + Number(head.headers['content-length'] ?? 0)
    }
    if (size < needed) return
    const bytes = joined()
    const request = { ...head, rawBody: bytes.toString('utf8', bodyStart, needed) }
    pieces = [bytes.subarray(needed)]
    size -= needed
    head = undefined
    busy = true
    void answer(request, wire).then(() => {
      busy = false
      if (size > 0) advance()
    })
  }

  function joined(): Buffer {
    const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
    pieces = [bytes]
    return bytes
  }

  const wire: Wire = {
    gone: connection.signal,
    send(bytes) {
      if (socket.destroyed) return Promise.resolve()
      return new Promise((resolve) => {
        const done = () => {
          socket.off('close', done)
          resolve()
        }
        socket.once('close', done)
        socket.write(bytes, done)
      })
    },
    reset() {
      socket.resetAndDestroy()
    },
    close() {
      socket.end()
    },
  }

  socket.on('data', (bytes: Buffer) => {
    pieces.push(bytes)
    size += bytes.length
    advance()
  })
}

function parseHead(text: string): Omit<WireRequest, 'rawBody'> {
  const [requestLine = '', ...lines] = text.split('\r\n')
  const [method = '', path = ''] = requestLine.split(' ')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim()
  }
  return { method, path, headers }
}
