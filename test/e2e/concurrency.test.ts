import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adaKey } from '../harness/gateway.ts'
import { type GatewayProcess, sendAtOnce, spawnGateway } from '../harness/process.ts'
import { believable, type Reply, startUpstream, type Upstream } from '../harness/upstream.ts'

let upstream: Upstream
let gateway: GatewayProcess

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await spawnGateway({
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
  })
})

afterAll(async () => {
  await gateway?.remove()
  await upstream?.stop()
})

const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const headers = { authorization: `Bearer ${adaKey}` }

test('a stream that is silent for 35 seconds is not cut', async () => {
  const silent: Reply = async (x) => {
    await x.begin(200, { 'content-type': 'text/event-stream' })
    await x.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')
    await x.sleep(35_000)
    await x.write('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n')
    await x.end()
  }
  upstream.script(silent)
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...body, stream: true }),
    signal: AbortSignal.timeout(50_000),
  })
  const text = await response.text()
  expect(text).toContain('"finish_reason":"stop"')
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
}, 60_000)

test('1,000 slow requests at once all complete', async () => {
  upstream.clear()
  // No request is answered before all of them have arrived.
  const all = Promise.withResolvers<void>()
  upstream.always(async (x) => {
    await all.promise
    await believable()(x)
  })
  const load = sendAtOnce({
    url: `${gateway.url}/v1/chat/completions`,
    headers,
    body,
    count: 1000,
  })
  await upstream.received(999)
  all.resolve()
  expect((await load).statuses).toEqual({ 200: 1000 })
}, 60_000)
