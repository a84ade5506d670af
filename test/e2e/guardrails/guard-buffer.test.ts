import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { adaKey, eventually } from '../../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../../harness/process.ts'
import { memoryMb } from '../../harness/process-tree.ts'
import { type Exchange, paced, startUpstream, type Upstream } from '../../harness/upstream.ts'

const STREAM_MB = 100
const BUFFER_BYTES = 4 << 20

let upstream: Upstream
let gateway: GatewayProcess

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await spawnGateway({
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
    accounting: { abort_drain_secs: 1 },
    guardrails: { default: { enabled: true, mode: 'deny', packs: ['core.shell'] } },
  })
}, 30_000)
afterAll(async () => {
  await gateway?.remove()
  await upstream?.stop()
})

const peakMegabytes = () => memoryMb(gateway.pid, 'peak')

test(`a guarded stream of ${STREAM_MB} MB is refused at the limit, with memory flat`, async () => {
  const text = 'x'.repeat(64 << 10)
  const frame = `data: {"choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`
  let written = 0
  upstream.always(async (x) => {
    await x.begin(200, { 'content-type': 'text/event-stream' })
    while (written < STREAM_MB << 20 && !x.gone.aborted) {
      await x.write(frame)
      written += frame.length
      // Time for the event that the other end has closed.
      await x.sleep(1)
    }
    await x.end()
  })
  const before = peakMegabytes()
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}` },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
  })
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  expect([response.status, error.code]).toEqual([413, 'guarded_response_too_large'])
  expect(error.message).toContain(String(BUFFER_BYTES))
  // The gateway closes the connection to the upstream instead of reading to the end.
  await eventually(async () => upstream.journal.calls.at(-1)?.outcome === 'aborted' || undefined)
  expect(written).toBeLessThan((STREAM_MB << 20) / 2)
  const grown = peakMegabytes() - before
  console.log(`${(written / 2 ** 20).toFixed(0)} MB came, memory grew by ${grown.toFixed(0)} MB`)
  expect(grown).toBeLessThan(60)
}, 30_000)

test('the limit counts bytes, whatever the language', async () => {
  const text = '語'.repeat(100_000)
  const frame = `data: {"choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`
  upstream.always(async (x) => {
    await x.begin(200, { 'content-type': 'text/event-stream' })
    for (let sent = 0; sent < BUFFER_BYTES && !x.gone.aborted; sent += text.length * 3) {
      await x.write(frame)
    }
    await x.write('data: [DONE]\n\n')
    await x.end()
  })
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}` },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(response.status).toBe(413)
  await response.body?.cancel()
})

test.each([
  ['goes on', 'left-alone', paced(600, 50)],
  ['falls silent', 'left-in-silence', silent],
] as const)(
  'a stream that %s after its caller has left is read on for abort_drain_secs, and charged',
  async (_, id, script) => {
    upstream.always(script)
    const away = new AbortController()
    const index = upstream.journal.calls.length
    void upstream.received(index).then(() => away.abort())
    const call = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adaKey}`, 'x-request-id': id },
      body: JSON.stringify({
        model: 'm',
        stream: true,
        messages: [{ role: 'user', content: 'hi' }],
      }),
      signal: away.signal,
    })
    await expect(call).rejects.toThrow()
    const sql = postgres(gateway.databaseUrl, { max: 1 })
    try {
      const [row] = await eventually(async () => {
        const found = await sql`
        select pricing_status, usage_doubt from accounting.usage_cost_events
        where request_id = ${id}`
        return found.length > 0 ? found : undefined
      })
      expect({ ...row }).toEqual({
        pricing_status: 'unpriced',
        usage_doubt: 'client_abort',
      })
      await eventually(
        async () => upstream.journal.calls.at(-1)?.outcome === 'aborted' || undefined,
      )
      const [attempt] = await eventually(async () => {
        const found = await sql`
        select status from request_log.request_log_attempts where request_id = ${id}`
        return found.length > 0 ? found : undefined
      })
      // Others are counted as failures of the provider.
      expect(attempt?.status).toBe('client_abort')
    } finally {
      await sql.end()
    }
  },
)

async function silent(x: Exchange) {
  await x.begin(200, { 'content-type': 'text/event-stream' })
  await x.write('data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n')
  await x.sleep(20_000)
}

test('the failure that follows a reported error is waited for, with what it counted', async () => {
  upstream.always(async (x) => {
    await x.begin(200, { 'content-type': 'text/event-stream' })
    await x.write('event: error\ndata: {"type":"error","code":"busy","message":"no"}\n\n')
    await x.sleep(30)
    const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 }
    const failed = { type: 'response.failed', response: { status: 'failed', usage } }
    await x.write(`event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`)
    await x.end()
  })
  const response = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}`, 'x-request-id': 'error-then-failure' },
    body: JSON.stringify({ model: 'm', stream: true, input: 'hi' }),
  })
  expect(response.status).toBe(502)
  const { error } = (await response.json()) as { error: Record<string, unknown> }
  expect(error).toMatchObject({ code: 'busy', gateway_code: 'upstream_transport' })
  const sql = postgres(gateway.databaseUrl, { max: 1 })
  try {
    const [row] = await eventually(async () => {
      const found = await sql`
        select prompt_tokens::int, completion_tokens::int from accounting.usage_cost_events
        where request_id = 'error-then-failure'`
      return found.length > 0 ? found : undefined
    })
    expect(row).toMatchObject({ prompt_tokens: 3, completion_tokens: 5 })
  } finally {
    await sql.end()
  }
})

test("a stream that cannot be read is not given the gateway's code as that of the upstream", async () => {
  upstream.always(async (x) => {
    await x.begin(200, { 'content-type': 'text/event-stream' })
    await x.write('data: {"choices":[\n\n')
    await x.end()
  })
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}` },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(response.status).toBe(502)
  const { error } = (await response.json()) as { error: Record<string, unknown> }
  expect(error).toMatchObject({ code: 'upstream_transport', type: 'upstream_error' })
})
