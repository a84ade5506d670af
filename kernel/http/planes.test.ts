import { expect, test } from 'bun:test'
import { createDataPlane } from './data-plane.ts'

const bodyLimits = { maxBytes: 100, timeoutMs: 60_000 }
const post = () =>
  new Request('http://localhost/v1/chat/completions', { method: 'POST', body: '{}' })

// A provider may take longer than the pieces of a body: the limit counts for those alone.

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
