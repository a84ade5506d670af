import { expect, test } from 'bun:test'
import { GatewayError, OutboundError, type ProviderCall } from '../plugin/index.ts'
import { createEgress, removeProxyVariables } from './egress.ts'
import type { Gate, GateCall } from './gate.ts'

const url = 'https://upstream.test/v1'

/** One call, its number of signs of life, and what was requested from the gate. */
function begin(answer: (ends: AbortController) => Response | Promise<Response>, proxy?: string) {
  const asked: GateCall[] = []
  const ends = new AbortController()
  const gate: Gate = {
    check: async () => {},
    async send(_, call) {
      asked.push(call)
      return await answer(ends)
    },
  }
  const seen = { signs: 0 }
  const call = {
    requestId: 'r1',
    traceparent: '00-a',
    signal: ends.signal,
    alive: () => void seen.signs++,
    answered() {},
  } as unknown as ProviderCall
  const egress = createEgress(proxy, gate)
  return { sent: egress.send(call, url, { headers: { 'X-Request-Id': 'no' } }), asked, seen, ends }
}

function inPieces(pieces: readonly string[], gone = () => {}): ReadableStream<Uint8Array> {
  const left = pieces.map((piece) => new TextEncoder().encode(piece))
  return new ReadableStream({
    pull(to) {
      const piece = left.shift()
      if (piece === undefined) to.close()
      else to.enqueue(piece)
    },
    cancel: gone,
  })
}

test('the head of a reply is a sign of life, and so is each piece of its body', async () => {
  const { sent, seen } = begin(() => new Response(inPieces(['a', 'b'])))
  const { body } = await sent
  expect(seen.signs).toBe(1)
  const pieces: string[] = []
  for await (const piece of body) pieces.push(new TextDecoder().decode(piece))
  expect(pieces).toEqual(['a', 'b'])
  expect(seen.signs).toBe(3)
})

test('each piece of a long body is a sign of life, also when it is read as a whole', async () => {
  const headers = { 'content-length': String(2 ** 21) }
  const { sent, seen } = begin(() => new Response(inPieces(['a', 'b']), { headers }))
  expect(new TextDecoder().decode(await (await sent).bytes())).toBe('ab')
  expect(seen.signs).toBe(3)
})

test('leaving the body early closes its connection', async () => {
  let gone = false
  const body = inPieces(['a', 'b', 'c'], () => {
    gone = true
  })
  const { sent } = begin(() => new Response(body))
  for await (const _ of (await sent).body) break
  expect(gone).toBe(true)
})

test('a call that is broken off fails with the reason, at its head and in its body', async () => {
  const reason = new GatewayError('upstream_timeout', 'late')
  const torn = () => Promise.reject(new Error('socket closed'))
  const { sent: head } = begin((ends) => {
    ends.abort(reason)
    return torn()
  })
  expect(await head.catch((error: unknown) => error)).toBe(reason)
  const broken = () => new Response(new ReadableStream({ pull: torn }))
  for (const read of ['bytes', 'body'] as const) {
    const { sent, ends } = begin(broken)
    const { body, bytes } = await sent
    const next = () => (read === 'bytes' ? bytes() : body[Symbol.asyncIterator]().next())
    ends.abort(reason)
    expect(await next().catch((error: unknown) => error)).toBe(reason)
  }
})

test('reports a failed connection without an address', async () => {
  const cause = Object.assign(new Error('connect 10.1.2.3:443'), { code: 'ECONNREFUSED' })
  const { sent } = begin(() =>
    Promise.reject(new OutboundError('transport', '10.1.2.3', { cause })),
  )
  await expect(sent).rejects.toMatchObject({
    code: 'upstream_transport',
    message: 'the provider could not be reached (ECONNREFUSED)',
  })
})

test('a call carries its request id and trace, and uses the operator’s proxy', async () => {
  const { sent, asked } = begin(() => new Response(''), 'http://proxy.test:8080')
  await sent
  expect(asked).toMatchObject([
    {
      policy: 'operator',
      proxy: 'http://proxy.test:8080',
      headers: { 'x-request-id': 'r1', traceparent: '00-a' },
    },
  ])
})

test('the proxy variables go out of the environment, however they are written', () => {
  const env = { http_proxy: 'a', HTTPS_PROXY: 'b', ALL_PROXY: 'c', no_proxy: 'd', HOME: 'e' }
  removeProxyVariables(env)
  expect(env as object).toEqual({ HOME: 'e' })
})
