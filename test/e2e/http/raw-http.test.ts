import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { startUpstream, type Upstream } from '../../harness/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startTestGateway({
    server: { max_body_bytes: 100_000, body_timeout_ms: 400 },
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
  })
})

afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
const length = `content-length: ${body.length}\r\n`
const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaKey}\r\n`
const whole = `${head}${length}\r\n${body}`

describe('refused before it is a request', () => {
  afterEach(async () => {
    expect(upstream.journal.calls).toHaveLength(0)
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  })

  test.each([
    ['two lengths that differ', `${head}${length}content-length: 3\r\n\r\n${body}`, 400],
    ['a list of lengths', `${head}content-length: 3, 3\r\n\r\n${body}`, 400],
    ['a length below zero', `${head}content-length: -1\r\n\r\n${body}`, 400],
    ['a length beside chunks', `${head}${length}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['chunks of no size', `${head}transfer-encoding: chunked\r\n\r\nzz\r\n${body}\r\n`, 400],
    ['a name with a space behind it', `${head}x-a : b\r\n${length}\r\n${body}`, 400],
    ['a header on two lines', `${head}x-a: b\r\n c\r\n${length}\r\n${body}`, 400],
    ['no host', `${whole.replace('host: localhost\r\n', '')}`, 400],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00', 400],
    ['five thousand headers', `${head}${'x-a: b\r\n'.repeat(5000)}${length}\r\n${body}`, 431],
    ['a header of 1 MB', `${head}x-a: ${'b'.repeat(1_000_000)}\r\n${length}\r\n${body}`, 431],
  ])('%s', async (_, text, status) => {
    expect(await talk(text)).toStartWith(`HTTP/1.1 ${status} `)
  })

  test('a head that does not end is not waited for', async () => {
    const started = performance.now()
    expect(await talk(head)).toBe('')
    expect(performance.now() - started).toBeLessThan(15_000)
  })
})

const get = (path: string) =>
  talk(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)

test.each([
  '/v1/../healthz',
  '/v1/%2e%2e/healthz',
  '/./healthz',
  '/v1/.%2E/healthz/',
  '/v1\\..\\healthz',
  '/v1//../healthz',
  '/a/b/c/d/e/f/g/h/i/j/k/l/../../../../../../../../../../../../healthz',
  'http://localhost/v1/../healthz',
  '/x/..?y',
])('a path with dot segments is refused: %s', async (path) => {
  const reply = await get(path)
  expect(reply).toStartWith('HTTP/1.1 400 ')
  expect(reply).toContain('the path must not contain . or .. segments')
})

test('dots that are not segments, and empty segments, are what they were', async () => {
  expect(await get('/healthz?x=/../y')).toStartWith('HTTP/1.1 200 ')
  for (const path of ['/v1/...', '/.well-known/x', '//healthz', '/v1//healthz']) {
    expect(await get(path)).toStartWith('HTTP/1.1 404 ')
  }
})

test('a chunked body over the limit', async () => {
  const answer = await talk(
    `${head}connection: close\r\ntransfer-encoding: chunked\r\n\r\n${`8000\r\n${'x'.repeat(0x8000)}\r\n`.repeat(5)}`,
  )
  expect(answer).toStartWith('HTTP/1.1 413')
  expect(answer).toContain('request_body_too_large')
})

test('a half-sent body is answered and closed after its deadline', async () => {
  const started = performance.now()
  const answer = await talk(`${head}content-length: 1000\r\n\r\n{"model":`)
  expect(answer).toStartWith('HTTP/1.1 400')
  expect(answer).toContain('400 ms')
  expect(performance.now() - started).toBeWithin(350, 3000)
})

test('a request before the reply to the last one closes the connection, and its caller has left', async () => {
  const id = 'pipelined'
  expect(await talk(`${whole.replace('\r\n', `\r\nx-request-id: ${id}\r\n`)}${whole}`)).toBe('')
  const rows = await eventually(async () => {
    const found = await gateway.sql<{ outcome: string }[]>`
      select outcome from request_log.request_logs where request_id = ${id}`
    return found.length > 0 ? found : undefined
  })
  expect([...rows]).toEqual([{ outcome: 'client_abort' }])
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
})

/** Sends a text and reads until the gateway closes. */
function talk(text: string): Promise<string> {
  const { hostname, port } = new URL(gateway.url)
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })
}
