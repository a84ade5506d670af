import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import {
  bytes,
  errorStatus,
  halfEvent,
  html,
  htmlError,
  inBandError,
  invalidUtf8,
  json,
  jsonInsteadOfStream,
  malformedEvent,
  missingDone,
  neverAnswers,
  type Reply,
  redirect,
  resetBeforeHeaders,
  resetMidStream,
  sse,
  startUpstream,
  type Upstream,
} from '../../harness/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startTestGateway({
    providers: [
      {
        id: 'up',
        type: 'generic_compat',
        base_url: upstream.url,
        auth: { mode: 'bearer', token: 'literal.upstream-secret' },
        timeouts: { total_ms: 300, idle_ms: 300 },
        max_response_bytes: 100_000,
        pricing_provider_id: 'test',
      },
    ],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
    pricing: {
      overrides: [
        {
          pricing_provider_id: 'test',
          model: 'u',
          input_usd_per_million: '1',
          output_usd_per_million: '2',
        },
      ],
    },
  })
})

afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

let counter = 0

/** One chat call against a scripted fault, with what the database says of it afterwards. */
async function call(reply: Reply, stream: boolean) {
  const messages = [{ role: 'user', content: 'hi' }]
  return await send(reply, 'chat/completions', { model: 'm', stream, messages })
}

async function send(reply: Reply, operation: string, body: object) {
  upstream.clear()
  upstream.script(reply)
  const id = `fault-${++counter}`
  const response = await gateway.post(`/v1/${operation}`, body, { 'x-request-id': id })
  const text = await response.text()
  const row = await eventually(async () => {
    const rows = await gateway.sql`
      select r.outcome, r.status_code, a.status as attempt, a.error_code as attempt_error,
        (select count(*)::int from accounting.usage_cost_events where request_id = ${id}) as charges,
        (select pricing_status || ': ' || coalesce(usage_doubt, 'no doubt')
          from accounting.usage_cost_events where request_id = ${id}) as price
      from request_log.request_logs r
      join request_log.request_log_attempts a on a.request_log_id = r.id
      where r.request_id = ${id}`
    return rows[0]
  })
  expect(upstream.journal.calls).toHaveLength(1)
  expect(text).not.toContain('upstream-secret')
  return { response, text, row }
}

const neverFollowed = { outcome: 'upstream_error', charges: 0, price: null }

function tooLong(headers: Readonly<Record<string, string>>): Reply {
  const text = ' '.repeat(200_000)
  return bytes(
    Object.keys(headers).length > 0 ? gzipSync(text) : text,
    'application/json',
    200,
    headers,
  )
}

/** Short, by its own word, and never idle. */
const drips: Reply = async (x) => {
  await x.raw('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n')
  while (!x.gone.aborted) {
    await x.raw(' ')
    await x.sleep(50)
  }
}

describe('a buffered call', () => {
  test('whose response says that it failed is passed on, and recorded as failed', async () => {
    const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 }
    const error = { code: 'server_error', message: 'boom' }
    const head = { id: 'r', object: 'response', created_at: 1, model: 'u', output: [] }
    const asked = { tools: [], tool_choice: 'auto', parallel_tool_calls: true }
    const failed = { ...head, ...asked, status: 'failed', error, usage }
    const { response, text, row } = await send(json(failed), 'responses', {
      model: 'm',
      input: 'x',
    })
    expect(response.status).toBe(200)
    expect(JSON.parse(text)).toEqual({ ...failed, model: 'm' })
    expect(row).toMatchObject({
      outcome: 'upstream_error',
      status_code: 200,
      attempt: 'provider_error',
      attempt_error: 'server_error',
      price: 'legacy_estimated: provider_error',
    })
  })

  test('that fails with usage in its reply is charged for it, as an estimate', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
    const { row } = await call(json({ usage }), false)
    expect(row).toMatchObject({
      outcome: 'upstream_error',
      price: 'legacy_estimated: provider_error',
    })
    const messages = [{ role: 'user', content: 'hi' }]
    const flex = { model: 'm', service_tier: 'flex', messages }
    const dear = await send(json({ usage }), 'chat/completions', flex)
    expect(dear.row).toMatchObject({ price: 'unpriced: provider_error' })
  })

  const faults: [string, Reply, number, string][] = [
    ['an upstream that never answers', neverAnswers, 504, 'upstream_timeout'],
    ['a reset connection', resetBeforeHeaders, 502, 'upstream_transport'],
    ['a web page', html, 502, 'upstream_transport'],
    ['a web page with an error status', htmlError, 502, 'upstream_http_error'],
    ['invalid UTF-8', invalidUtf8, 502, 'upstream_transport'],
    ['JSON of the wrong shape', json({ hello: 'world' }), 502, 'upstream_transport'],
    ['JSON that is not an object', json([1]), 502, 'upstream_transport'],
    [
      'half a JSON document',
      bytes('{"id":"x","cho', 'application/json'),
      502,
      'upstream_transport',
    ],
    ['a reply above max_response_bytes', tooLong({}), 502, 'upstream_transport'],
    ['one that is so unpacked', tooLong({ 'content-encoding': 'gzip' }), 502, 'upstream_transport'],
    ['a reply that drips for longer than total_ms', drips, 504, 'upstream_timeout'],
    ['a redirect', redirect, 502, 'upstream_http_error'],
    ['status 400', errorStatus(400), 400, 'upstream_http_error'],
    ['status 401', errorStatus(401), 502, 'upstream_http_error'],
    ['status 403', errorStatus(403), 502, 'upstream_http_error'],
    ['status 404', errorStatus(404), 404, 'upstream_http_error'],
    ['status 429', errorStatus(429), 429, 'upstream_http_error'],
    ['status 500', errorStatus(500), 500, 'upstream_http_error'],
    ['status 529', errorStatus(529), 529, 'upstream_http_error'],
  ]
  test.each(faults)('that meets %s', async (_, reply, status, code) => {
    const { response, text, row } = await call(reply, false)
    expect(response.status).toBe(status)
    expect(JSON.parse(text).error).toMatchObject(
      JSON.stringify(text).includes('on purpose')
        ? { code: 'scripted', type: 'scripted_error', gateway_code: code }
        : { code, type: 'upstream_error' },
    )
    expect(text).not.toContain('internal-host-17')
    expect(row).toEqual({
      ...neverFollowed,
      status_code: status,
      attempt: 'provider_error',
      attempt_error: code,
    })
  })

  test("passes the upstream's message and retry-after on", async () => {
    const { response, text } = await call(
      errorStatus(429, 'slow down', { 'retry-after': '7' }),
      false,
    )
    expect(response.headers.get('retry-after')).toBe('7')
    expect(JSON.parse(text).error.message).toContain('slow down')
  })
})

describe('a streamed call', () => {
  const beforeTheStream: [string, Reply, number, string][] = [
    ['an upstream that never answers', neverAnswers, 504, 'upstream_timeout'],
    ['a reset connection', resetBeforeHeaders, 502, 'upstream_transport'],
    ['a web page', html, 502, 'upstream_transport'],
    ['status 503', errorStatus(503), 503, 'upstream_http_error'],
  ]
  test.each(beforeTheStream)('that meets %s', async (_, reply, status, code) => {
    const { response, text, row } = await call(reply, true)
    expect(response.status).toBe(status)
    expect(JSON.parse(text).error.gateway_code ?? JSON.parse(text).error.code).toBe(code)
    expect(row).toEqual({
      ...neverFollowed,
      status_code: status,
      attempt: 'stream_start_error',
      attempt_error: code,
    })
  })

  const idle: Reply = async (x) => {
    await x.begin(200, { 'content-type': 'text/event-stream' })
    await x.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')
  }
  const charged = { charges: 1, price: 'legacy_estimated: stream_error' }
  /** What is charged is what the stream has said before. */
  const inTheStream: [string, Reply, string, object?][] = [
    ['a reset', resetMidStream(2), 'upstream_transport', charged],
    ['half an event', halfEvent, 'upstream_transport'],
    ['invalid UTF-8', invalidUtf8, 'upstream_transport'],
    ['an event that is not JSON', malformedEvent, 'upstream_transport'],
    ['no event at all', sse([]), 'upstream_transport'],
    ['an error of its own', inBandError, 'overloaded'],
    ['silence', idle, 'upstream_timeout', charged],
  ]
  test.each(inTheStream)('that breaks off with %s', async (_, reply, code, charges = {}) => {
    const { response, text, row } = await call(reply, true)
    expect(response.status).toBe(200)
    const events = text.trim().split('\n\n')
    expect(events.filter((event) => event.includes('"error"'))).toHaveLength(1)
    expect(JSON.parse(events.at(-1)?.replace('data: ', '') ?? '').error.code).toBe(code)
    expect(text).not.toContain('[DONE]')
    expect(row).toEqual({
      ...neverFollowed,
      status_code: 200,
      attempt: 'stream_error',
      attempt_error: code,
      ...charges,
    })
  })

  test('that gets a whole reply sends it in chunks', async () => {
    const { response, text, row } = await call(jsonInsteadOfStream, true)
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    expect(text).toContain('"object":"chat.completion.chunk"')
    expect(text).toEndWith('data: [DONE]\n\n')
    expect(row).toMatchObject({ outcome: 'success', charges: 1 })
  })

  test('that lacks its [DONE] gets one', async () => {
    const { text, row } = await call(missingDone, true)
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(row).toMatchObject({ outcome: 'success', attempt: 'success' })
  })

  test.each([
    ['with an error', ['data: {"error":{"message":"late","code":"late"}}\n\n']],
    ['without its end', []],
  ])('that breaks off %s is charged for the counters so far, as an estimate', async (_, end) => {
    const chunk = (more: object) =>
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'u', choices: [], ...more })}\n\n`
    const { row } = await call(
      sse([
        chunk({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] }),
        chunk({ usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 } }),
        ...end,
      ]),
      true,
    )
    expect(row).toMatchObject({
      outcome: 'upstream_error',
      attempt: 'stream_error',
      charges: 1,
      price: 'legacy_estimated: stream_error',
    })
  })
})
