import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

const DRAIN_MS = 600

let gateway: TestGateway
let upstream: ReturnType<typeof Bun.serve>
/** What the upstream does with the call that is on its way. */
let answer: (signal: AbortSignal) => Promise<Response>
let aborted = Promise.withResolvers<number>()
let called = Promise.withResolvers<void>()

const chunk = {
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
}
const events = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`
const headers = { 'content-type': 'text/event-stream' }
const never = () => new Promise<Response>(() => {})

beforeAll(async () => {
  upstream = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      await request.text()
      request.signal.addEventListener('abort', () => aborted.resolve(performance.now()))
      called.resolve()
      return await answer(request.signal)
    },
  })
  gateway = await startTestGateway({
    accounting: { abort_drain_secs: DRAIN_MS / 1_000 },
    providers: [
      { id: 'up', type: 'generic_compat', base_url: `http://127.0.0.1:${upstream.port}/v1` },
    ],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'm' }] }],
  })
})
afterAll(async () => {
  await upstream?.stop(true)
  await gateway?.stop()
})
afterEach(() => {
  aborted = Promise.withResolvers()
  called = Promise.withResolvers()
})

function call(body: JsonObject, path = '/v1/chat/completions') {
  const leaving = new AbortController()
  const id = crypto.randomUUID()
  const reply = fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}`, 'x-request-id': id },
    body: JSON.stringify({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      ...body,
    }),
    signal: leaving.signal,
  })
  reply.catch(() => {})
  return { id, reply, leaving }
}

async function logged(id: string) {
  return await eventually(async () => {
    const [row] = await gateway.sql`
      select l.outcome, a.status as attempt
      from request_log.request_logs l
      left join request_log.request_log_attempts a on a.request_log_id = l.id
      where l.request_id = ${id}`
    return row
  })
}

test.each([
  ['a whole reply', { stream: false }, '/v1/chat/completions'],
  ['a stream that has not begun', { stream: true }, '/v1/chat/completions'],
  ['a message', { stream: false }, '/v1/messages'],
])('nobody waits for %s: the upstream is let go when the drain is over', async (_, body, path) => {
  answer = never
  const { id, leaving } = call(body, path)
  await called.promise
  const leftAt = performance.now()
  leaving.abort()
  const waited = (await aborted.promise) - leftAt
  expect(waited).toBeGreaterThan(DRAIN_MS - 100)
  expect(waited).toBeLessThan(DRAIN_MS + 1_000)
  expect(await logged(id)).toEqual({ outcome: 'client_abort', attempt: 'client_abort' })
})

test.each([false, true])('what comes within the drain is booked, stream: %s', async (stream) => {
  answer = async () => {
    await Bun.sleep(400)
    return stream
      ? new Response(events, { headers })
      : Response.json({
          ...chunk,
          object: 'chat.completion',
          choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }],
        })
  }
  const [before] = await gateway.sql`select count(*)::int as rows from accounting.usage_cost_events`
  const { id, leaving } = call({ stream })
  await called.promise
  leaving.abort()
  expect(await logged(id)).toMatchObject({ outcome: 'client_abort' })
  const [after] = await gateway.sql`select count(*)::int as rows from accounting.usage_cost_events`
  expect(after?.rows).toBe(before?.rows + 1)
})

test('the headers of a stream leave when the upstream has sent its own', async () => {
  const more = Promise.withResolvers<string>()
  answer = async () =>
    new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode(': begun\n\n'))
          controller.enqueue(new TextEncoder().encode(await more.promise))
          controller.close()
        },
      }),
      { headers },
    )
  const begunAt = performance.now()
  const response = await call({ stream: true }).reply
  expect(performance.now() - begunAt).toBeLessThan(2_000)
  expect(response.headers.get('content-type')).toStartWith('text/event-stream')
  more.resolve(events)
  const text = await response.text()
  expect(text).toStartWith(':\n\ndata: ')
  expect(text).toEndWith('data: [DONE]\n\n')
})
