import { expect, test } from 'bun:test'
import type { McpInvocationHandle, McpInvocationResult } from '../plugin/index.ts'
import { createMcpProxy } from './mcp.ts'
import { type McpIncoming, type McpServices, usualMcpLimits } from './mcp-exchange.ts'

const server = {
  mcpServerId: 's1',
  serverKey: 'files',
  serverUrl: 'https://files.example.test/mcp',
  authMode: 'none',
  tools: new Map(),
}

/** A gateway whose one server takes any message; `handle` is the call that a cancellation finds. */
function servicesWith(handle: Pick<McpInvocationHandle, 'openedAt' | 'close'>): McpServices {
  return {
    lease: () => ({ runtime: { guardOfServer: () => undefined }, release() {} }),
    identity: {
      authenticate: async () => ({ ownershipScopeKey: 'user:u1', owner: { kind: 'user' } }),
    },
    accounting: { checkOwner() {} },
    registry: { find: () => server },
    authModes: [{ mode: 'none', kind: 'gateway', headers: () => ({}) }],
    audit: {
      ownerOf: async () => ({ ownershipScopeKey: 'user:u1' }),
      open: async () => handle,
      reopen: async () => handle,
    },
    send: async () => new Response(null, { status: 202 }),
    trace: () => ({ traceparent: undefined, finished() {} }),
    door: { loopback: false, publicBaseUrl: undefined },
    limits: usualMcpLimits,
    fault(message: string, error: unknown) {
      throw new Error(message, { cause: error })
    },
  } as unknown as McpServices
}

/** A message in a session. */
function incoming(message: object): McpIncoming {
  const headers = {
    authorization: 'Bearer gwk_0123456789.secret',
    'content-type': 'application/json',
    'mcp-session-id': 'session',
  }
  return {
    requestId: 'r',
    receivedAt: new Date(),
    method: 'POST',
    serverKey: 'files',
    header: (name) => new Headers(headers).get(name),
    headers,
    body: async () => JSON.stringify({ jsonrpc: '2.0', ...message }),
    callerLeft: () => new AbortController().signal,
    streamEnded() {},
  }
}

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
  const { body } = await createMcpProxy(services).handle(incoming(call))
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
  const { status } = await createMcpProxy(services).handle(incoming(message))
  expect(status).toBe(202)
  expect(await closed.promise).toEqual({ status: 'cancelled', latencyMs: 0, responseBytes: 0 })
})

test('the door is told when a stream has ended, and not before', async () => {
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
    ...incoming({ id: 1, method: 'ping' }),
    streamEnded: () => void journal.push('door is told'),
  })
  await new Response(body).text()
  expect(journal).toEqual(['server ends it', 'door is told'])
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
  }).handle(incoming({ id: 1, method: 'ping' }))
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
  }).handle(incoming({ id: 1, method: 'ping' }))
  expect(await new Response(body).text()).toEndWith('data: {}\n\n')
})
