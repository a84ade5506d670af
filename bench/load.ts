/**
 * The load generator. It takes an order as JSON by POST and answers with the result as JSON. It is
 * a separate process, so that it is equally warm for every load. It uses raw sockets with
 * keep-alive and parses only enough to find the end of a reply, to leave the processors to what is
 * measured.
 */
import type { Socket } from 'bun'
import { serveUntilOrphaned } from './machine.ts'

export interface LoadOrder {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Number of requests, and how many are concurrent. */
  readonly count: number
  readonly concurrency: number
  /** Prefix of the `x-request-id`, to which a number is added; without it no id is sent. */
  readonly idPrefix?: string
}

export interface LoadResult {
  readonly seconds: number
  /** Replies that are not a complete 200. */
  readonly failures: number
  /** Description of the first failure. */
  readonly failure?: string
  /** Milliseconds to the end of a reply and to the first byte of its body, ascending. */
  readonly latencies: readonly number[]
  readonly firstBytes: readonly number[]
  /** Reads that contained a part of a body: for a stream, at most the number of its events. */
  readonly reads: number
}

const HEAD_END = Buffer.from('\r\n\r\n')
const BODY_END = Buffer.from('\n0\r\n\r\n')
const STREAM_ENDS = ['[DONE]', '{"type":"message_stop"}'].map((end) => Buffer.from(end))
const EMPTY = Buffer.alloc(0)
/** How many characters at the end of a reply are kept to see whether it is complete. */
const TAIL_BYTES = 512

if (import.meta.main) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => Response.json(await run((await request.json()) as LoadOrder)),
  })
  await serveUntilOrphaned(server.port)
}

function endsWith(bytes: Buffer, end: Buffer): boolean {
  return bytes.subarray(-end.length).equals(end)
}

async function run(order: LoadOrder): Promise<LoadResult> {
  const { hostname, port, pathname } = new URL(order.url)
  const isStream = order.body.includes('"stream":true')
  const body = Buffer.from(order.body)
  const fields = { host: 'localhost', 'content-type': 'application/json', ...order.headers }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${pathname} HTTP/1.1\r\n${lines.join('')}content-length: ${body.length}\r\n`
  const latencies: number[] = []
  const firstBytes: number[] = []
  let sent = 0
  let failures = 0
  let failure: string | undefined
  let reads = 0

  function connection(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let startedAt = 0
    let firstByteAt = 0
    let begun = EMPTY
    let headers: string | undefined
    let bodyBytes = 0
    let tail = EMPTY
    let unsent: Buffer | undefined
    let over = false

    function finish() {
      over = true
      resolve()
    }

    function fail(socket: Socket, why: string) {
      if (over) return
      failures++
      failure ??= why
      finish()
      socket.terminate()
    }

    function write(socket: Socket, bytes: Buffer) {
      const written = socket.write(bytes)
      unsent = written < bytes.length ? bytes.subarray(Math.max(0, written)) : undefined
    }

    function next(socket: Socket) {
      if (sent === order.count) {
        finish()
        socket.end()
        return
      }
      const id = order.idPrefix === undefined ? '' : `x-request-id: ${order.idPrefix}-${sent}\r\n`
      sent++
      begun = EMPTY
      headers = undefined
      bodyBytes = 0
      tail = EMPTY
      startedAt = performance.now()
      write(socket, Buffer.concat([Buffer.from(`${head}${id}\r\n`), body]))
    }

    function take(socket: Socket, data: Buffer) {
      let part = data
      if (headers === undefined) {
        begun = Buffer.concat([begun, data])
        const at = begun.indexOf(HEAD_END)
        if (at === -1) return
        headers = begun.toString('latin1', 0, at).toLowerCase()
        part = begun.subarray(at + HEAD_END.length)
      }
      if (part.length > 0) {
        reads++
        if (bodyBytes === 0) firstByteAt = performance.now()
        bodyBytes += part.length
        // Copied, because the buffer is valid only until this call returns.
        tail = Buffer.concat([tail, part.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES)
      }
      const declared = /\ncontent-length: *(\d+)/.exec(headers)?.[1]
      if (declared === undefined ? !endsWith(tail, BODY_END) : bodyBytes < Number(declared)) return
      const now = performance.now()
      const complete = !isStream || STREAM_ENDS.some((end) => tail.includes(end))
      if (!headers.startsWith('http/1.1 200') || !complete) {
        fail(socket, `${headers.split('\r\n')[0]} … ${tail}`)
        return
      }
      latencies.push(now - startedAt)
      firstBytes.push(firstByteAt - startedAt)
      next(socket)
    }

    Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: next,
        data: take,
        drain(socket) {
          if (unsent !== undefined) write(socket, unsent)
        },
        close: (socket) => fail(socket, 'the connection was closed'),
        error: (socket, error) => fail(socket, error.message),
      },
    }).catch((error: Error) => {
      failures++
      failure ??= error.message
      finish()
    })
    return promise
  }

  const began = performance.now()
  await Promise.all(Array.from({ length: Math.min(order.concurrency, order.count) }, connection))
  const seconds = (performance.now() - began) / 1000
  const ascending = (a: number, b: number) => a - b
  return {
    seconds,
    failures,
    ...(failure === undefined ? {} : { failure }),
    latencies: latencies.sort(ascending),
    firstBytes: firstBytes.sort(ascending),
    reads,
  }
}
