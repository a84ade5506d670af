import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createDataPlane } from './data-plane.ts'

/** An endless stream, served by the door's own rules with a second in the place of its limit. */
function serveEndless() {
  const left = Promise.withResolvers<void>()
  const limits: number[] = []
  const plane = createDataPlane({
    infer: async () => ({
      kind: 'stream',
      headers: {},
      stream: { next: async () => 'x'.repeat(64 << 10), cancel: () => left.resolve() },
    }),
    listModels: async () => ({}),
    bodyLimits: { maxBytes: 1000, timeoutMs: 1000 },
    limitIdle(request, seconds) {
      limits.push(seconds)
      server.timeout(request, Math.min(seconds, 1))
    },
  })
  const server = Bun.serve({
    port: 0,
    fetch: (request) => plane.infer('chat_completions', request),
  })
  return { server, limits, left: left.promise }
}

test('a caller that takes nothing for a minute counts as gone', async () => {
  const { server, limits, left } = serveEndless()
  const caller = connect(server.port as number, '127.0.0.1')
  try {
    caller.once('data', () => caller.pause())
    caller.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n')
    await left
    expect(limits).toContain(60)
  } finally {
    caller.destroy()
    await server.stop(true)
  }
}, 20_000)
