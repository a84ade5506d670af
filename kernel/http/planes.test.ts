import { expect, test } from 'bun:test'
import type { Surface } from '../plugin/index.ts'
import { createDataPlane } from './data-plane.ts'

const bodyLimits = { maxBytes: 100, timeoutMs: 60_000 }
const post = () =>
  new Request('http://localhost/v1/chat/completions', { method: 'POST', body: '{}' })

const surface: Surface = {
  id: 'talk',
  paths: ['/v1/talk'],
  dialect: 'talk',
  operation: 'talk',
  read: () => ({ model: 'm', stream: false, features: [], exposedToolCount: undefined }),
}

// A provider or a server may take longer than the pieces of a body: the limit counts for those alone.

test('an inference request may be silent when its body is there, and not before', async () => {
  const journal: string[] = []
  const infer = createDataPlane({
    async infer(incoming) {
      journal.push('begins')
      await incoming.body()
      journal.push('has its body')
      return { kind: 'buffered', status: 200, headers: {}, body: '{}' }
    },
    bodyLimits,
    limitIdle: (_, seconds) => void journal.push(`limit ${seconds}`),
    streams: () => void journal.push('streams'),
  })
  expect((await infer(surface, post())).status).toBe(200)
  expect(journal).toEqual(['begins', 'limit 0', 'has its body'])
})
