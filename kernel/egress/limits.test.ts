import { afterEach, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { ProviderCall } from '../plugin/index.ts'
import { createEgress } from './egress.ts'

const MB = 1 << 20
let server: Server | undefined
afterEach(() => void server?.close())

/** A server that answers each connection with `answer`, and one call to it. */
async function begin(answer: (socket: Socket) => void, maxResponseBytes: number) {
  let closed = () => {}
  const gone = new Promise<void>((resolve) => {
    closed = resolve
  })
  server = createServer((socket) => {
    socket.on('error', () => {}).on('close', closed)
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => void server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const ends = new AbortController()
  const seen = { signs: 0 }
  const call = {
    requestId: 'r1',
    signal: ends.signal,
    maxResponseBytes,
    alive: () => void seen.signs++,
    answered() {},
  } as unknown as ProviderCall
  const url = `http://127.0.0.1:${port}/v1`
  return { sent: createEgress(undefined).send(call, url, {}), seen, gone }
}

function head(socket: Socket, ...headers: string[]) {
  socket.write(['HTTP/1.1 200 OK', ...headers, '', ''].join('\r\n'))
}

const endless = (socket: Socket) => {
  head(socket, 'transfer-encoding: chunked')
  const piece = Buffer.from(`10000\r\n${' '.repeat(65_536)}\r\n`)
  const fill = () => {
    while (socket.writable && socket.write(piece)) {}
    socket.once('drain', fill)
  }
  fill()
}

/** Endless while it is read, so that decompressing all of it never finishes. */
const packed = (socket: Socket) => {
  const bomb = gzipSync(Buffer.alloc(64 * MB, ' '))
  head(socket, 'content-encoding: gzip', 'transfer-encoding: chunked')
  const piece = Buffer.concat([
    Buffer.from(`${bomb.length.toString(16)}\r\n`),
    bomb,
    Buffer.from('\r\n'),
  ])
  const fill = () => {
    while (socket.writable && socket.write(piece)) {}
    socket.once('drain', fill)
  }
  fill()
}

test.each([
  ['has no end', endless],
  ['unpacks to many times its length', packed],
])('a body that %s is given up at the limit, and its connection closed', async (_, answer) => {
  const { sent, gone } = await begin(answer, MB)
  const response = await sent
  await expect(response.bytes()).rejects.toMatchObject({
    code: 'upstream_transport',
    message: `the provider's reply is larger than ${MB} bytes (max_response_bytes)`,
  })
  await gone
})

test('each piece of a short body is a sign of life, whatever its stated length', async () => {
  const drip = async (socket: Socket) => {
    head(socket, 'content-length: 3')
    for (const piece of ['a', 'b', 'c']) {
      socket.write(piece)
      await Bun.sleep(20)
    }
    socket.end()
  }
  const { sent, seen } = await begin((socket) => void drip(socket), MB)
  expect(new TextDecoder().decode(await (await sent).bytes())).toBe('abc')
  expect(seen.signs).toBeGreaterThan(2)
})
