import { expect, test } from 'bun:test'
import { LiveSet, type McpInvocationStatus } from '../plugin/index.ts'
import { type McpCall, type McpServices, usualMcpLimits } from './mcp-exchange.ts'
import { replyOf } from './mcp-reply.ts'
import { createWatches } from './mcp-watch.ts'

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
