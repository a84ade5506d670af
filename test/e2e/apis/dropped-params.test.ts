import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

let gateway: TestGateway
let upstream: ReturnType<typeof Bun.serve>
let received: string[] = []

const reply = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
}

beforeAll(async () => {
  upstream = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const text = await request.text()
      received.push(text)
      const body: unknown = JSON.parse(text)
      if (isJsonObject(body) && body.user === 'refused') {
        return Response.json({ error: { message: 'no' } }, { status: 400 })
      }
      if (!isJsonObject(body) || body.stream !== true) return Response.json(reply)
      const chunk = {
        ...reply,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }],
      }
      return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      })
    },
  })
  const route = { provider: 'compat', upstream_model: 'm' }
  gateway = await startTestGateway({
    providers: [
      { id: 'compat', type: 'generic_compat', base_url: `http://127.0.0.1:${upstream.port}/v1` },
    ],
    models: [
      { id: 'as-it-is', routes: [route] },
      { id: 'dropping', routes: [{ ...route, drop_params: ['seed', 'user_name'] }] },
      { id: 'strict', routes: [{ ...route, unsupported_params: 'reject' }] },
    ],
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop(true)
})

async function call(path: string, body: JsonObject) {
  received = []
  const response = await gateway.post(path, body as never)
  const text = await response.text()
  return {
    status: response.status,
    dropped: response.headers.get('x-gateway-dropped'),
    id: response.headers.get('x-request-id') ?? '',
    text,
    sent: received[0] ?? '',
  }
}

async function loggedAsDropped(id: string): Promise<unknown> {
  const row = await eventually(async () => {
    const [found] = await gateway.sql`
      select metadata_json -> 'dropped' as dropped from request_log.request_logs
      where request_id = ${id}`
    return found
  })
  return row?.dropped
}

const messages = [{ role: 'user', content: 'hi' }]

test('drop_params: the upstream does not get them, and all else as it was written', async () => {
  const raw = { model: 'dropping', big: 1, messages, seed: 7 }
  for (const stream of [false, true]) {
    const { status, dropped, sent, id } = await call('/v1/chat/completions', { ...raw, stream })
    expect([status, dropped]).toEqual([200, 'seed'])
    expect(sent).not.toContain('seed')
    expect(sent).toContain('"big":1')
    expect(await loggedAsDropped(id)).toEqual(['seed'])
  }
})

test('what the messages API has beyond chat is left out and told, on errors too', async () => {
  const request = { max_tokens: 5, messages, context_management: { edits: [] } }
  const body = { ...request, thinking: { type: 'adaptive' } }
  const names = 'context_management, thinking'
  const good = await call('/v1/messages', { ...body, model: 'as-it-is' })
  expect([good.status, good.dropped]).toEqual([200, names])
  expect(good.sent).not.toContain('context_management')
  expect(await loggedAsDropped(good.id)).toEqual(['context_management', 'thinking'])

  const metadata = { user_id: 'refused' }
  const bad = await call('/v1/messages', { ...body, metadata, model: 'as-it-is' })
  expect([bad.status, bad.dropped]).toEqual([400, names])

  const strict = await call('/v1/messages', { ...body, model: 'strict' })
  expect([strict.status, strict.dropped, strict.sent]).toEqual([400, null, ''])
  expect(strict.text).toContain('context_management is not supported by this route')
})

test('a call of which nothing is left out says nothing', async () => {
  const { dropped, id } = await call('/v1/chat/completions', {
    model: 'as-it-is',
    messages,
    seed: 7,
  })
  expect(dropped).toBeNull()
  expect(await loggedAsDropped(id)).toBeNull()
})

test('names are the callers’ words: they are cut, and no header breaks', async () => {
  const odd = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x\r\n${i}é`.repeat(40), 1]))
  const { status, dropped } = await call('/v1/messages', {
    ...odd,
    model: 'as-it-is',
    max_tokens: 5,
    messages,
  })
  expect(status).toBe(200)
  const names = dropped?.split(', ') ?? []
  expect(names).toHaveLength(32)
  expect(names.every((name) => name.length <= 64 && /^[\w.?]+$/.test(name))).toBe(true)
})
