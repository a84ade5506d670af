import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually, startTestGateway } from '../../harness/gateway.ts'
import { pluginFolder } from '../plugins/plugin-files.fixture.ts'

const files = pluginFolder()
const use = files.plugin('shapes', {
  manifest: `providerTypes: [{ type: 'shapes', config: Type.Object({}), compatibility: Type.Object({}) }],`,
  setup: `
    const event = kit.streamEvent('{"choices":[]}')
    const whole = {
      id: 'x', object: 'chat.completion', created: 1, model: 'x',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    }
    async function* streamed() {
      yield [kit.streamEvent('{"choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}')]
    }
    const answers: Record<string, unknown> = {
      nothing: undefined,
      'no-kind': { body: whole },
      'other-kind': { kind: 'buffer', body: whole },
      'no-events': { kind: 'stream' },
      list: { kind: 'stream', events: [[event]] },
      'no-iterator': {
        kind: 'stream',
        events: { [Symbol.asyncIterator]() { throw new Error('planted') } },
      },
      bigint: {
        kind: 'buffered',
        body: { ...whole, created: 1n },
      },
      'at-once': { kind: 'buffered', body: whole },
      'always-whole': { kind: 'buffered', body: whole },
      get 'always-streamed'() { return { kind: 'stream', events: streamed() } },
    }
    const bind = ({ upstreamModel }: any) => ({
      supports: ['stream'], pricing: { model: upstreamModel },
      execute: {
        chat_completions() {
          const answer = answers[upstreamModel]
          return upstreamModel === 'at-once' ? answer : Promise.resolve(answer)
        },
      },
    })
    ctx.provide(kit.providerFactories, { type: 'shapes', create: () => ({ bind }) as any })
  `,
})
const names = ['nothing', 'no-kind', 'other-kind', 'no-events', 'list', 'no-iterator']
const others = ['bigint', 'at-once', 'always-whole', 'always-streamed']
let gateway: Awaited<ReturnType<typeof startTestGateway>>
beforeAll(async () => {
  gateway = await startTestGateway({
    plugins: [{ use: 'builtin:*' }, { use }],
    providers: [{ id: 'odd', type: 'shapes' }],
    models: [...names, ...others].map((id) => ({
      id,
      routes: [{ provider: 'odd', upstream_model: id }],
    })),
  })
})
afterAll(async () => {
  await gateway?.stop()
  files.remove()
})

test.each(
  names.flatMap((model) => [
    [model, true],
    [model, false],
  ]),
)('an executor that gives %s, asked to stream: %p', async (model, stream) => {
  const id = `${model}-${stream}`
  const send = () =>
    gateway.post(
      '/v1/chat/completions',
      { model, stream, messages: [{ role: 'user', content: 'x' }] },
      { 'x-request-id': id },
    )
  const reply = await send()
  expect(reply.status).toBe(502)
  expect(await reply.json()).toMatchObject({ error: { code: 'upstream_transport' } })
  const [said] = gateway.logs.filter(({ request_id }) => request_id === id)
  expect(said).toMatchObject({ level: 50, msg: 'provider odd failed' })
  expect(JSON.stringify(said)).toMatch(
    /it returned neither a body nor a stream of events|it answered a call for a whole body|planted/,
  )
  const attempts = await eventually(async () => {
    const rows = await gateway.sql`
      select a.status from request_log.request_logs l
      join request_log.request_log_attempts a on a.request_log_id = l.id where l.request_id = ${id}`
    return rows.length > 0 ? rows : undefined
  })
  expect(attempts).toMatchObject([{ status: stream ? 'stream_start_error' : 'provider_error' }])
  // Nothing was used, so the id is free again.
  expect((await send()).status).toBe(502)
})

test('a body that is no JSON is charged, and has its attempt', async () => {
  const reply = await gateway.post(
    '/v1/chat/completions',
    { model: 'bigint', messages: [{ role: 'user', content: 'x' }] },
    { 'x-request-id': 'bigint' },
  )
  expect(reply.status).toBe(500)
  const rows = await eventually(async () => {
    const found = await gateway.sql`
      select l.status_code, l.total_tokens, a.provider_key
      from request_log.request_logs l
      join request_log.request_log_attempts a on a.request_log_id = l.id
      join accounting.usage_cost_events e on e.request_id = l.request_id
      where l.request_id = 'bigint'`
    return found.length > 0 ? found : undefined
  })
  expect(rows).toMatchObject([{ status_code: 500, total_tokens: '7', provider_key: 'odd' }])
})

test.each([
  ['always-whole', true, 'it answered a call for a stream with a whole body'],
  ['always-streamed', false, 'it answered a call for a whole body with a stream'],
])('an executor with the other kind of answer: %s', async (model, stream, rule) => {
  const id = `kind-of-${model}`
  const ask = (wanted: boolean, headers = {}) =>
    gateway.post(
      '/v1/chat/completions',
      { model, stream: wanted, messages: [{ role: 'user', content: 'x' }] },
      headers,
    )
  const reply = await ask(stream, { 'x-request-id': id })
  expect(reply.status).toBe(502)
  expect(await reply.json()).toMatchObject({ error: { code: 'upstream_transport' } })
  const said = gateway.logs.filter(({ request_id }) => request_id === id)
  expect(JSON.stringify(said)).toContain(rule)
  expect((await ask(!stream)).status).toBe(200)
})

test('an executor that answers at once, without a promise, has answered', async () => {
  const messages = [{ role: 'user', content: 'x' }]
  const reply = await gateway.post('/v1/chat/completions', { model: 'at-once', messages })
  expect(reply.status).toBe(200)
})
