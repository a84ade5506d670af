import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adaKey } from '../../harness/gateway.ts'
import { type GatewayProcess, sendAtOnce, spawnGateway } from '../../harness/process.ts'
import { believable, startUpstream, type Upstream } from '../../harness/upstream.ts'

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

test('1,000 slow requests at once all complete', async () => {
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
