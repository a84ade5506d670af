import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { pluginFolder } from '../plugins/plugin-files.fixture.ts'

/** Calls one candidate after the other until one answers; `x-do` says what else. */
const SETUP = `
  ctx.provide(middleware, {
    id: 'fallbacks', around: 'execute',
    async handle(exchange, next) {
      const wish = exchange.header('x-do')
      if (wish === 'none') { await next(); return }
      if (wish === 'unknown') { await next({ routeId: 'm/nobody/x', provider: 'nobody', upstreamModel: 'x' }); return }
      if (wish === 'after-success') { await next(); await next(); return }
      let failure
      for (const candidate of exchange.candidates) {
        try { await next(candidate); return } catch (error) { failure = error }
      }
      throw failure
    },
  })
`

const files = pluginFolder()
let gateway: TestGateway
beforeAll(async () => {
  const use = files.plugin('fallbacks', { setup: SETUP })
  const faults = (match: string) => [{ match, kind: 'error_status', status: 503 }]
  const rate = (model: string, usd: string) => ({
    pricing_provider_id: 'simulator',
    model,
    input_usd_per_million: usd,
    output_usd_per_million: usd,
  })
  gateway = await startTestGateway({
    plugins: [{ use: 'builtin:*' }, { use }],
    providers: [
      { id: 'one', type: 'simulator', pricing_provider_id: 'simulator', faults: faults('fail') },
      {
        id: 'two',
        type: 'simulator',
        pricing_provider_id: 'simulator',
        faults: faults('fail all'),
      },
    ],
    models: [
      {
        id: 'm',
        routes: [
          { provider: 'one', upstream_model: 'dear', priority: 1 },
          { provider: 'two', upstream_model: 'cheap', priority: 2 },
        ],
      },
    ],
    pricing: { overrides: [rate('dear', '1000'), rate('cheap', '1')] },
  })
}, 30_000)
afterAll(async () => {
  await gateway?.stop()
  files.remove()
})

async function ask(content: string, more: object = {}, headers: Record<string, string> = {}) {
  const body = { model: 'm', messages: [{ role: 'user', content }], ...more }
  const reply = await gateway.post('/v1/chat/completions', body, headers)
  const text = await reply.text()
  const id = reply.headers.get('x-request-id')
  const attempts = await eventually(async () => {
    const [log] = await gateway.sql`select 1 from request_log.request_logs where request_id = ${id}`
    if (log === undefined) return undefined
    const rows = await gateway.sql<{ provider_key: string; status: string }[]>`
      select a.provider_key, a.status from request_log.request_log_attempts a
      where a.request_id = ${id} order by a.attempt_number`
    return rows.map((row) => `${row.provider_key} ${row.status}`)
  })
  const ledger = await gateway.sql<{ provider_key: string; upstream_model: string }[]>`
    select provider_key, upstream_model from accounting.usage_cost_events where request_id = ${id}`
  return { status: reply.status, text, attempts, ledger: [...ledger] }
}

test('the next candidate answers when one has failed: each call is an attempt, one is charged', async () => {
  for (const stream of [false, true]) {
    const { status, attempts, ledger } = await ask('fail', { stream })
    expect(status).toBe(200)
    expect(attempts).toEqual([
      `one ${stream ? 'stream_start_error' : 'provider_error'}`,
      'two success',
    ])
    expect(ledger).toEqual([{ provider_key: 'two', upstream_model: 'cheap' }])
  }
})

test('when all candidates fail, the last failure is the answer and nothing is charged', async () => {
  const { status, attempts, ledger } = await ask('fail all')
  expect([status, attempts]).toEqual([503, ['one provider_error', 'two provider_error']])
  expect(ledger).toEqual([])
})

test('without a candidate the planned one is called, once', async () => {
  expect((await ask('fail', {}, { 'x-do': 'none' })).attempts).toEqual(['one provider_error'])
})

test('a route that is no candidate, or another call after an answer, is a fault of the plugin', async () => {
  const unknown = await ask('hello', {}, { 'x-do': 'unknown' })
  expect([unknown.status, unknown.attempts, unknown.ledger]).toEqual([500, [], []])
  const again = await ask('hello', {}, { 'x-do': 'after-success' })
  expect([again.status, again.attempts]).toEqual([500, ['one success']])
  expect(again.ledger).toEqual([{ provider_key: 'one', upstream_model: 'dear' }])
})
