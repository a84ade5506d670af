import { expect, test } from 'bun:test'
import { GatewayError } from 'model-gateway/plugin'
import type { McpInvocationResult } from './contract.ts'
import type { McpIncoming, McpServices } from './exchange.ts'
import { incoming, server, servicesWith } from './proxy.fixture.ts'
import { createMcpProxy } from './proxy.ts'

test.each([
  ['as one', 'application/json', JSON.stringify],
  ['as an event', 'text/event-stream', (it: object) => `data: ${JSON.stringify(it)}\n\n`],
])('a call that is answered %s is not left for another connection', async (_, type, write) => {
  const journal: string[] = []
  const closed = Promise.withResolvers<void>()
  const handle = {
    openedAt: new Date(),
    leave: () => void journal.push('left'),
    close({ status }: McpInvocationResult) {
      journal.push(status)
      closed.resolve()
    },
  }
  const result = { jsonrpc: '2.0', id: 7, result: { content: [] } }
  const services: McpServices = {
    ...servicesWith(handle),
    send: async () => new Response(write(result), { headers: { 'content-type': type } }),
  }
  const call = { id: 7, method: 'tools/call', params: { name: 'read' } }
  const { body } = await createMcpProxy(services).handle(incoming(call, 'session'))
  expect(await new Response(body).text()).toBe(write(result))
  await closed.promise
  expect(journal).toEqual(['success'])
})

test('a call that a replica with a fast clock has opened is not cancelled before it began', async () => {
  const closed = Promise.withResolvers<McpInvocationResult>()
  const services = servicesWith({
    openedAt: new Date(Date.now() + 60_000),
    close: closed.resolve,
  })
  const message = { method: 'notifications/cancelled', params: { requestId: 7 } }
  const { status } = await createMcpProxy(services).handle(incoming(message, 'session'))
  expect(status).toBe(202)
  expect(await closed.promise).toEqual({ status: 'cancelled', latencyMs: 0, responseBytes: 0 })
})

test('the door is notified when a stream has ended, and not before', async () => {
  const journal: string[] = []
  const events = new ReadableStream<Uint8Array>({
    async start(controller) {
      await Bun.sleep(50)
      controller.enqueue(new TextEncoder().encode('data: {}\n\n'))
      await Bun.sleep(50)
      journal.push('server ends it')
      controller.close()
    },
  })
  const services: McpServices = {
    ...servicesWith({ openedAt: new Date(), close() {} }),
    send: async () => new Response(events, { headers: { 'content-type': 'text/event-stream' } }),
  }
  const { body } = await createMcpProxy(services).handle({
    ...incoming({ id: 1, method: 'ping' }, 'session'),
    streamEnded: () => void journal.push('door is notified'),
  })
  await new Response(body).text()
  expect(journal).toEqual(['server ends it', 'door is notified'])
})

test('a server whose reply may not pass is given up, whatever it still has to say', async () => {
  let signal: AbortSignal | undefined
  const endless = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(1))
    },
  })
  const { status } = await createMcpProxy({
    ...servicesWith({ openedAt: new Date(), close() {} }),
    async send(_, sent) {
      signal = sent.signal
      return new Response(endless, { status: 401 })
    },
  }).handle(incoming({ id: 1, method: 'ping' }, 'session'))
  expect(status).toBe(502)
  expect(signal?.aborted).toBe(true)
})

test('a stream may last longer than the server may take to begin it', async () => {
  const services = servicesWith({ openedAt: new Date(), close() {} })
  const { body } = await createMcpProxy({
    ...services,
    registry: { find: () => ({ ...server, timeoutMs: 100 }) } as never,
    async send(_, { signal }) {
      const events = new ReadableStream<Uint8Array>({
        async start(controller) {
          signal.addEventListener('abort', () => controller.error(signal.reason))
          await Bun.sleep(400)
          if (signal.aborted) return
          controller.enqueue(new TextEncoder().encode('data: {}\n\n'))
          controller.close()
        },
      })
      return new Response(events, { headers: { 'content-type': 'text/event-stream' } })
    },
  }).handle(incoming({ id: 1, method: 'ping' }, 'session'))
  expect(await new Response(body).text()).toEndWith('data: {}\n\n')
})

test.each([
  [0, 202],
  [1_500, 401],
])(
  'a key that is revoked once it was looked at, of a call that came %i ms ago: %i',
  async (ago, status) => {
    const services = servicesWith({ openedAt: new Date(), close() {} })
    let looks = 0
    const identity = {
      async authenticate() {
        if (looks++ > 0) throw new GatewayError('api_key_revoked', 'the key is revoked')
        return { ownershipScopeKey: 'user:u1', owner: { kind: 'user' } }
      },
    } as unknown as McpServices['identity']
    const reply = await createMcpProxy({ ...services, identity }).handle({
      ...incoming({ id: 1, method: 'ping' }, 'session'),
      receivedAt: new Date(Date.now() - ago),
    })
    expect(reply.status).toBe(status)
  },
)

const sessionEnds: readonly [McpIncoming['method'], number, boolean][] = [
  ['POST', 404, true],
  ['POST', 200, false],
  ['POST', 405, false],
  ['GET', 404, false],
  ['GET', 200, false],
  ['DELETE', 200, true],
  ['DELETE', 404, true],
  ['DELETE', 405, false],
]
test.each(sessionEnds)(
  'after %s and %i its session is forgotten: %p',
  async (method, status, ends) => {
    const services = servicesWith({ openedAt: new Date(), close() {} })
    const forgotten: unknown[] = []
    const audit = {
      ...services.audit,
      unbind: (...session: unknown[]) => void forgotten.push(session),
    } as unknown as McpServices['audit']
    const send = async () => new Response('', { status })
    const proxy = createMcpProxy({ ...services, audit, send })
    await proxy.handle({ ...incoming({ id: 1, method: 'ping' }, 'session'), method })
    expect(forgotten).toEqual(ends ? [['s1', 'session']] : [])
  },
)
