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
