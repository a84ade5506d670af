import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually, startTestGateway, type TestGateway } from '../harness/gateway.ts'
import {
  believable,
  delayed,
  type Reply,
  startUpstream,
  type Upstream,
} from '../harness/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startTestGateway({
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
  })
})

afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }

test('a stream that is silent for 35 seconds is not cut', async () => {
  const silent: Reply = async (x) => {
    await x.begin(200, { 'content-type': 'text/event-stream' })
    await x.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')
    await x.sleep(35_000)
    await x.write('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n')
    await x.end()
  }
  upstream.script(silent)
  const response = await gateway.post('/v1/chat/completions', { ...body, stream: true })
  const text = await response.text()
  expect(text).toContain('"finish_reason":"stop"')
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
}, 60_000)

test('1,000 slow requests at once all complete', async () => {
  upstream.clear()
  upstream.always(delayed(4000, believable()))
  const started = performance.now()
  const answers = Array.from({ length: 1000 }, async () => {
    const response = await gateway.post('/v1/chat/completions', body)
    await response.json()
    return response.status
  })
  await eventually(async () => (upstream.journal.calls.length === 1000 ? true : undefined), 10_000)
  // All of them had arrived upstream before the first was answered.
  expect(performance.now() - started).toBeLessThan(4000)
  expect((await Promise.all(answers)).every((status) => status === 200)).toBe(true)
}, 60_000)
