import { expect, test } from 'bun:test'
import type { McpIncoming } from '../../plugins/mcp-proxy/exchange.ts'
import { createMcpPlane } from '../../plugins/mcp-proxy/plane.ts'
import { createDataPlane } from './data-plane.ts'

const bodyLimits = { maxBytes: 100, timeoutMs: 60_000 }
const post = () =>
  new Request('http://localhost/v1/chat/completions', { method: 'POST', body: '{}' })

// A provider or a server may take longer than the pieces of a body: the limit counts for those alone.

test('an inference request may be silent when its body is there, and not before', async () => {
  const journal: string[] = []
  const { infer } = createDataPlane({
    async infer(incoming) {
      journal.push('begins')
      await incoming.body()
      journal.push('has its body')
      return { kind: 'buffered', status: 200, headers: {}, body: '{}' }
    },
    listModels: async () => [],
    bodyLimits,
    limitIdle: (_, seconds) => void journal.push(`limit ${seconds}`),
    streams: () => void journal.push('streams'),
  })
  expect((await infer('chat_completions', post())).status).toBe(200)
  expect(journal).toEqual(['begins', 'limit 0', 'has its body'])
})

test.each([
  ['POST', ['begins', 'kept open', 'has its body']],
  ['GET', ['kept open', 'begins', 'has its body', 'streams']],
] as const)('an MCP request may be silent when it is all there: %s', async (method, expected) => {
  const journal: string[] = []
  const answer = createMcpPlane({
    proxy: {
      async handle(incoming: McpIncoming) {
        journal.push('begins')
        if (method === 'POST') await incoming.body()
        journal.push('has its body')
        const body = method === 'GET' ? new ReadableStream<Uint8Array>() : null
        return { status: 200, headers: {}, body }
      },
    },
    bodyLimits,
    keepOpen: () => void journal.push('kept open'),
    streams: () => void journal.push('streams'),
    limitAgain: () => void journal.push('limit again'),
  })
  const request = method === 'POST' ? post() : new Request('http://localhost/mcp/files')
  expect((await answer(request, 'files')).status).toBe(200)
  expect(journal).toEqual([...expected])
})
