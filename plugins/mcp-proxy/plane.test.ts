import { expect, test } from 'bun:test'
import type { HttpCall } from 'model-gateway/http'
import type { McpIncoming } from './exchange.ts'
import { createMcpRoute } from './plane.ts'

// A server may take longer than the pause between pieces of a body, which alone is limited.
test.each([
  ['POST', ['begins', 'reads', 'has its body']],
  ['GET', ['kept open', 'begins', 'has its body', 'streams', 'limit again']],
] as const)('a request may be silent when it is all there: %s', async (method, expected) => {
  const journal: string[] = []
  const { handle } = createMcpRoute(() => ({
    async handle(incoming: McpIncoming) {
      journal.push('begins')
      if (method === 'POST') await incoming.body()
      journal.push('has its body')
      if (method === 'POST') return { status: 200, headers: {}, body: null }
      incoming.streamEnded()
      return { status: 200, headers: {}, body: new ReadableStream<Uint8Array>() }
    },
  }))
  const response = await handle({
    request: new Request('http://localhost/mcp/files', { method }),
    params: { server_key: 'files' },
    headers: () => ({}),
    keepOpen: () => void journal.push('kept open'),
    async text() {
      journal.push('reads')
      return '{}'
    },
    streams() {
      journal.push('streams')
      return () => void journal.push('limit again')
    },
  } as unknown as HttpCall)
  expect(response.status).toBe(200)
  await Bun.sleep(0)
  expect(journal).toEqual([...expected])
})
