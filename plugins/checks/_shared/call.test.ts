import { afterAll, describe, expect, test } from 'bun:test'
import { inspect } from 'node:util'
import { CheckFailure } from 'model-gateway/guardrail'
import { createAsk } from './call.ts'
import { startStandIn } from './testing.ts'

const CANARY = 'canary-4711'
const standIn = startStandIn(({ headers }) =>
  headers.get('authorization') === `Bearer ${CANARY}`
    ? undefined
    : new Response('', { status: 401 }),
)
afterAll(() => standIn.stop())

function asker({ maxRetries = 0, token = CANARY, url = standIn.url } = {}) {
  const refused: unknown[] = []
  const ask = createAsk({
    name: 'the service',
    maxRetries,
    credentials: async () => ({ authorization: `Bearer ${token}` }),
    refused: (_, error) => void refused.push(error),
  })
  return {
    refused,
    async ask(timeoutMs = 5_000) {
      const before = standIn.calls.length
      const outcome = await ask(url, { text: CANARY }, AbortSignal.timeout(timeoutMs)).catch(
        (error: unknown) => error,
      )
      return { outcome, calls: standIn.calls.length - before }
    },
  }
}

const google = (status: number, name: string) =>
  Response.json({ error: { code: status, message: CANARY, status: name } }, { status })
const aws = (status: number, name: string) =>
  Response.json(
    { message: CANARY },
    { status, headers: { 'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/` } },
  )

/** The behaviour of the service, the failure reason, and whether the call is retried. */
const table: readonly (readonly [string, () => Response | Promise<Response>, string, boolean])[] = [
  ['429', () => aws(429, 'ThrottlingException'), 'managed.rate_limited', true],
  ['429 of Google', () => google(429, 'RESOURCE_EXHAUSTED'), 'managed.rate_limited', true],
  ['a quota', () => aws(400, 'ServiceQuotaExceededException'), 'managed.rate_limited', false],
  [
    'a quota, named in the body',
    () => Response.json({ __type: 'com.amazon#ServiceQuotaExceededException' }, { status: 400 }),
    'managed.rate_limited',
    false,
  ],
  ['401', () => google(401, 'UNAUTHENTICATED'), 'managed.access_denied', false],
  ['403', () => aws(403, 'AccessDeniedException'), 'managed.access_denied', false],
  ['413', () => new Response(CANARY, { status: 413 }), 'managed.content_too_large', false],
  ['400', () => aws(400, 'ValidationException'), 'managed.unavailable', false],
  ['404', () => google(404, 'NOT_FOUND'), 'managed.unavailable', false],
  ['500', () => aws(500, 'InternalServerException'), 'managed.unavailable', true],
  ['503', () => google(503, 'UNAVAILABLE'), 'managed.unavailable', true],
  ['a redirect', () => Response.redirect(standIn.url, 307), 'managed.unavailable', false],
  ['HTML', () => new Response(`<p>${CANARY}</p>`), 'managed.malformed_response', false],
  ['a list', () => Response.json([CANARY]), 'managed.malformed_response', false],
  ['nothing', () => new Response(''), 'managed.malformed_response', false],
  [
    'no UTF-8',
    () => new Response(Buffer.from('{"a":"\xff"}', 'latin1')),
    'managed.malformed_response',
    false,
  ],
  ['ever deeper', () => new Response('['.repeat(500_000)), 'managed.malformed_response', false],
  ['no end', () => endless(), 'managed.malformed_response', false],
]

function endless(): Response {
  const piece = new Uint8Array(65_536).fill(32)
  return new Response(new ReadableStream({ pull: (out) => out.enqueue(piece) }))
}

describe('a service that answers', () => {
  test.each(table)('%s', async (_, answer, reason, again) => {
    standIn.answer = answer
    const { outcome, calls } = await asker({ maxRetries: 1 }).ask()
    expect(outcome).toBeInstanceOf(CheckFailure)
    expect((outcome as CheckFailure).reason).toBe(reason as CheckFailure['reason'])
    expect(calls).toBe(again ? 2 : 1)
    expect(inspect(outcome)).not.toContain(CANARY)
  })

  test('names the error as the service does', async () => {
    standIn.answer = () => aws(404, 'ResourceNotFoundException')
    expect((await asker().ask()).outcome).toMatchObject({
      message: 'the service answered with status 404 (ResourceNotFoundException)',
    })
  })

  test('tells who refused the credentials', async () => {
    standIn.answer = () => aws(403, 'ExpiredTokenException')
    const { ask, refused } = asker()
    await ask()
    expect(refused).toEqual(['ExpiredTokenException'])
  })

  test('with what was asked for after a while is asked again until then', async () => {
    const answers = [aws(429, 'ThrottlingException'), aws(503, 'ServiceUnavailable')]
    standIn.answer = () => answers.shift() ?? Response.json({ fine: true })
    expect(await asker({ maxRetries: 2 }).ask()).toEqual({ outcome: { fine: true }, calls: 3 })
  })

  test('is left in peace longer each time', async () => {
    const times: number[] = []
    standIn.answer = () => {
      times.push(performance.now())
      return aws(429, 'ThrottlingException')
    }
    await asker({ maxRetries: 3 }).ask()
    const pauses = times.slice(1).map((time, n) => time - (times[n] ?? 0))
    // At least half of 100, 200 and 400 ms; timers may fire one millisecond early.
    expect(pauses.map((pause, n) => pause > 50 * 2 ** n - 2)).toEqual([true, true, true])
  })
})

describe('time', () => {
  test('ends a call that hangs', async () => {
    standIn.answer = () => new Promise(() => {})
    expect((await asker().ask(50)).outcome).toMatchObject({ reason: 'managed.timeout' })
  })

  test('ends a body that drips', async () => {
    standIn.answer = () =>
      new Response(
        new ReadableStream({
          async pull(out) {
            await Bun.sleep(5)
            out.enqueue(new Uint8Array([32]))
          },
        }),
      )
    expect((await asker().ask(60)).outcome).toMatchObject({ reason: 'managed.timeout' })
  })

  test('ends the retries', async () => {
    standIn.answer = () => aws(503, 'ServiceUnavailable')
    const start = performance.now()
    expect((await asker({ maxRetries: 10 }).ask(120)).outcome).toMatchObject({
      reason: 'managed.timeout',
    })
    expect(performance.now() - start).toBeLessThan(1_000)
  })

  test('ends the wait for credentials', async () => {
    const ask = createAsk({
      name: 'the service',
      maxRetries: 0,
      credentials: () => new Promise(() => {}),
    })
    for (const signal of [AbortSignal.timeout(30), AbortSignal.abort()]) {
      const outcome = await ask(standIn.url, {}, signal).catch((error: unknown) => error)
      expect(outcome).toMatchObject({ reason: 'managed.timeout' })
    }
  })
})

test('a refused connection is retried, then unavailable', async () => {
  const { outcome } = await asker({ maxRetries: 1, url: 'http://127.0.0.1:1' }).ask()
  expect(outcome).toMatchObject({ reason: 'managed.unavailable' })
})

test('a connection that breaks is tried again, then unavailable', async () => {
  let connections = 0
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        connections++
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a')
      },
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  const { outcome } = await asker({ maxRetries: 1, url }).ask()
  server.stop(true)
  expect(outcome).toMatchObject({ reason: 'managed.unavailable' })
  expect(connections).toBe(2)
})

test('credentials with invalid header characters are rejected without quoting them', async () => {
  const { outcome, calls } = await asker({ token: `${CANARY}\nx` }).ask()
  expect(outcome).toMatchObject({ reason: 'managed.access_denied' })
  expect(inspect(outcome)).not.toContain(CANARY)
  expect(calls).toBe(0)
})
