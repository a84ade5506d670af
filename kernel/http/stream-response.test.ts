import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { streamResponse } from './stream-response.ts'

test('a caller that takes nothing for a minute counts as gone', async () => {
  const left = Promise.withResolvers<void>()
  const limits: number[] = []
  const endless = { next: async () => 'x'.repeat(64 << 10), cancel: () => left.resolve() }
  const server = Bun.serve({
    port: 0,
    fetch: (request) =>
      streamResponse(endless, {}, (seconds) => {
        limits.push(seconds)
        // A second in the place of the minute.
        server.timeout(request, Math.min(seconds, 1))
      }),
  })
  const caller = connect(server.port as number, '127.0.0.1')
  try {
    caller.once('data', () => caller.pause())
    caller.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await left.promise
    expect(limits).toContain(60)
  } finally {
    caller.destroy()
    await server.stop(true)
  }
}, 20_000)
