import { expect, test } from 'bun:test'
import { brotliCompressSync } from 'node:zlib'
import { GatewayError } from 'model-gateway/plugin'
import { LiveSet } from 'model-gateway/wire'
import type { McpInvocationStatus } from './contract.ts'
import { type McpCall, type McpServices, usualMcpLimits } from './exchange.ts'
import { replyOf } from './reply.ts'
import { createWatches } from './watch.ts'

test('a caller who leaves before the reply has become a stream has cancelled the call', async () => {
  const caller = new AbortController()
  const watch = createWatches()(() => caller.signal)
  const closed: McpInvocationStatus[] = []
  const call = {
    incoming: { method: 'POST', requestId: 'r', streamEnded() {} },
    invocation: { sent() {}, close: (status: McpInvocationStatus) => closed.push(status) },
    watch,
    finished: () => watch.stop(),
  } as unknown as McpCall
  const services = { limits: usualMcpLimits } as McpServices
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(1))
      watch.upstream.signal.addEventListener('abort', () => controller.error(new Error('aborted')))
    },
  })
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const replying = replyOf(call, response, services, new LiveSet<() => void>())
  caller.abort()
  watch.upstream.abort()
  const { body: stream } = await replying
  await new Response(stream).text().catch(() => {})
  expect(closed).toEqual(['cancelled'])
})

test('a stream on which a server speaks unasked is not kept when it is over', async () => {
  const watch = createWatches()(() => new AbortController().signal)
  const call = {
    incoming: { method: 'GET', requestId: 'r', streamEnded() {} },
    watch,
    finished: () => watch.stop(),
  } as unknown as McpCall
  const services = { limits: usualMcpLimits } as McpServices
  const listening = new LiveSet<() => void>()
  const end = Promise.withResolvers<void>()
  const events = new ReadableStream<Uint8Array>({
    async start(controller) {
      await end.promise
      controller.close()
    },
  })
  const response = new Response(events, { headers: { 'content-type': 'text/event-stream' } })
  const { body } = await replyOf(call, response, services, listening)
  expect(listening.size).toBe(1)
  end.resolve()
  await new Response(body).text()
  expect(listening.size).toBe(0)
})

test.each([
  ['on which a server speaks unasked ends', 'GET', true],
  ['that answers a call goes on', 'POST', false],
] as const)('a stream %s once its caller may not have it any more', async (_, method, ends) => {
  const watch = createWatches()(() => new AbortController().signal)
  let isRevoked = false
  const call = {
    incoming: { method, requestId: 'r', streamEnded() {}, header: () => 'gwk_0123456789.secret' },
    watch,
    finished: () => watch.stop(),
  } as unknown as McpCall
  const services = {
    limits: { keepAliveMs: 20, idleMs: 10_000 },
    accounting: { checkOwner() {} },
    identity: {
      async authenticate() {
        if (isRevoked) throw new GatewayError('api_key_revoked', 'the key is revoked')
      },
    },
    registry: { find: () => undefined },
  } as unknown as McpServices
  const events = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode('data: 1\n\n'))
      await Bun.sleep(10)
      isRevoked = true
      await Bun.sleep(300)
      controller.enqueue(new TextEncoder().encode('data: 2\n\n'))
      controller.close()
    },
  })
  const response = new Response(events, { headers: { 'content-type': 'text/event-stream' } })
  const { body } = await replyOf(call, response, services, new LiveSet<() => void>())
  expect((await new Response(body).text()).includes('data: 2')).toBe(!ends)
})

test('a compressed reply is passed on piece by piece: its declared length says nothing of its size', async () => {
  const text = ' '.repeat(4 * 1024 * 1024)
  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'br' }
      return new Response(brotliCompressSync(text), { headers })
    },
  })
  try {
    const watch = createWatches()(() => new AbortController().signal)
    const call = {
      incoming: { method: 'POST', requestId: 'r', streamEnded() {} },
      watch,
      finished: () => watch.stop(),
    } as unknown as McpCall
    const services = { limits: usualMcpLimits } as McpServices
    const response = await fetch(upstream.url)
    expect(Number(response.headers.get('content-length'))).toBeLessThan(1000)
    const { body } = await replyOf(call, response, services, new LiveSet<() => void>())
    expect(body instanceof ReadableStream).toBe(true)
    expect(await new Response(body).text()).toBe(text)
  } finally {
    await upstream.stop(true)
  }
})
