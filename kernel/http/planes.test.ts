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

// Providers and MCP servers may take longer than the pauses in a body: the limit applies only to
// bodies.

test('an inference request may be silent only after its body has arrived', async () => {
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
    limitAgain() {},
  })
  expect((await infer(surface, post(), {})).status).toBe(200)
  expect(journal).toEqual(['begins', 'limit 0', 'has its body'])
})

test('a surface with a door converts requests and replies', async () => {
  const infer = createDataPlane({
    async infer(incoming) {
      return { kind: 'buffered', status: 200, headers: {}, body: await incoming.body() }
    },
    bodyLimits,
    limitIdle() {},
    streams() {},
    limitAgain() {},
  })
  const door: Surface['door'] = {
    async read({ params, request }) {
      return JSON.stringify({ at: params['*'], sent: await request.text() })
    },
    async write(reply, { header }) {
      return new Response(`${header('x-ask')}: ${await reply.text()}`, { headers: reply.headers })
    },
  }
  const request = new Request('http://localhost/v1/talk/b', {
    method: 'POST',
    body: 'no JSON',
    headers: { 'x-ask': 'a', 'x-request-id': 'r1' },
  })
  const response = await infer({ ...surface, paths: ['/v1/talk/*'], door }, request, { '*': 'b' })
  expect(await response.text()).toBe('a: {"at":"b","sent":"no JSON"}')
  expect(response.headers.get('x-request-id')).toBe('r1')
})
