import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { adaKey, eventually } from '../../harness/gateway.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../../harness/otlp.ts'
import type { GatewayProcess } from '../../harness/process.ts'
import {
  believable,
  bytes,
  delayed,
  paced,
  type Reply,
  resetMidStream,
  startUpstream,
  type Upstream,
} from '../../harness/upstream.ts'
import {
  type Ask,
  by,
  CANARY,
  chat,
  ofMetric,
  send,
  startGateway,
  total,
} from './telemetry.fixture.ts'

const LABELS = new Set([
  ...['operation', 'requested_model', 'resolved_model', 'provider', 'stream', 'status_code'],
  ...['outcome', 'service', 'component', 'env', 'token_type', 'pricing_status', 'dimension'],
])
const METRICS = [
  'cost.usd',
  'request.duration',
  'requests',
  'tokens',
  'tool_cardinality',
  'usage_records',
]

let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(async () => {
  await upstream?.stop()
})

const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]

/** One way a request can go: what is asked, what the upstream does, how it must be counted. */
interface Kind extends Ask {
  readonly outcome: string
  readonly reply?: Reply
  /** The caller leaves after this many milliseconds. */
  readonly leaveAfterMs?: number
}

const secretError = (status: number) =>
  bytes(
    JSON.stringify({ error: { message: `${CANARY}-message`, code: `${CANARY}-code` } }),
    'application/json',
    status,
  )
const tagged = {
  'x-gateway-service': 'search',
  'x-gateway-component': 'ranker',
  'x-gateway-env': 'prod',
  'x-gateway-tags': 'job=nightly',
}

const kinds: readonly Kind[] = [
  { outcome: 'success' },
  { outcome: 'success', body: { ...chat, stream: true }, headers: tagged },
  { outcome: 'success', body: { ...chat, model: 'nick', tools } },
  { outcome: 'success', body: { ...chat, model: 'tag:fast' } },
  { outcome: 'success', body: { ...chat, model: 'unpriced' } },
  { outcome: 'success', body: { ...chat, stream: true }, reply: believable({ usage: null }) },
  { outcome: 'success', path: '/v1/embeddings', body: { model: 'priced', input: CANARY } },
  { outcome: 'success', path: '/v1/responses', body: { model: 'priced', input: CANARY } },
  {
    outcome: 'success',
    path: '/v1/responses',
    body: { model: 'priced', input: CANARY, stream: true },
  },
  { outcome: 'invalid_request', body: `{"${CANARY}` },
  { outcome: 'invalid_request', headers: { 'x-gateway-env': `${CANARY} not a tag` } },
  { outcome: 'invalid_request', headers: { authorization: `Bearer gwk_${CANARY}` } },
  { outcome: 'invalid_request', body: { ...chat, model: `${CANARY}-model` } },
  { outcome: 'invalid_request', body: { ...chat, model: 'plain', tools } },
  { outcome: 'upstream_error', reply: secretError(500) },
  { outcome: 'upstream_error', reply: secretError(429), body: { ...chat, stream: true } },
  { outcome: 'upstream_error', reply: resetMidStream(2), body: { ...chat, stream: true } },
  { outcome: 'client_abort', reply: delayed(600), leaveAfterMs: 150 },
  {
    outcome: 'client_abort',
    reply: paced(8, 100),
    body: { ...chat, stream: true },
    leaveAfterMs: 300,
  },
]

/** Sends one request of a kind and waits for its end, the caller's or the gateway's. */
async function perform(gateway: GatewayProcess, kind: Kind): Promise<void> {
  upstream.always(kind.reply ?? believable())
  if (kind.leaveAfterMs === undefined) {
    await (await send(gateway, kind)).text()
    return
  }
  const leave = AbortSignal.timeout(kind.leaveAfterMs)
  const left = send(gateway, { ...kind, signal: leave }).then((response) => response.text())
  await expect(left).rejects.toThrow()
}

describe('200 mixed requests', () => {
  let receiver: OtlpReceiver
  let gateway: GatewayProcess
  const expected: Record<string, number> = {}

  beforeAll(async () => {
    receiver = startOtlpReceiver()
    gateway = await startGateway(upstream, {
      otel_endpoint: receiver.url,
      otel_export_interval_secs: 1,
    })
    for (let i = 0; i < 200; i++) {
      const kind = kinds[i % kinds.length] as Kind
      expected[kind.outcome] = (expected[kind.outcome] ?? 0) + 1
      await perform(gateway, kind)
    }
    await eventually(
      async () => (total(ofMetric(receiver, 'gateway.requests')) >= 200 ? true : undefined),
      15_000,
    )
    // One more export, so that a request counted twice would show.
    const seen = receiver.bodies.length
    await eventually(async () => (receiver.bodies.length > seen + 1 ? true : undefined))
  }, 120_000)
  afterAll(async () => {
    await gateway?.remove()
    await receiver?.stop()
  })

  test('each has exactly one outcome', () => {
    expect(by(ofMetric(receiver, 'gateway.requests'), 'outcome')).toEqual(expected)
    const durations = ofMetric(receiver, 'gateway.request.duration')
    expect(durations.reduce((sum, { count = 0 }) => sum + count, 0)).toBe(200)
    expect(durations.every(({ value }) => value > 0)).toBe(true)
  })

  test('every metric with traffic is there, with no label outside the list', () => {
    const own = receiver.points.filter(({ scope }) => scope === 'model-gateway')
    expect([...new Set(own.map(({ metric }) => metric))].sort()).toEqual(
      METRICS.map((name) => `gateway.${name}`),
    )
    for (const { labels } of own) {
      for (const label of Object.keys(labels)) expect(LABELS).toContain(label)
    }
    expect(own[0]?.resource).toMatchObject({
      'service.name': 'model-gateway',
      'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
      'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  test('label values are names of the config, whatever callers write', () => {
    const requests = ofMetric(receiver, 'gateway.requests')
    const values = (label: string) => Object.keys(by(requests, label)).sort()
    const models = ['plain', 'priced', 'unknown', 'unpriced']
    expect(values('requested_model')).toEqual([...models, 'nick', 'tag'].sort())
    expect(values('resolved_model')).toEqual(models)
    expect(values('provider')).toEqual(['unknown', 'up'])
    expect(values('operation')).toEqual(['chat_completions', 'embeddings', 'responses'])
    expect(values('service')).toEqual(['search', 'undefined'])
    expect(values('status_code')).toEqual(['200', '400', '401', '404', '429', '500'])
  })

  test('tokens, cost and usage records are those of the ledger', async () => {
    const { default: postgres } = await import('postgres')
    const sql = postgres(gateway.databaseUrl, { max: 1, onnotice: () => {} })
    const [row] = await sql`
      select sum(uncached_input_tokens)::int as input, sum(cache_read_tokens)::int as cache_read,
        sum(completion_tokens)::int as output, sum(cost_pico_usd)::text as cost
      from accounting.usage_cost_events`
    const statuses = await sql`
      select pricing_status, count(*)::int as rows from accounting.usage_cost_events group by 1`
    await sql.end()
    const { input, cache_read, output } = by(ofMetric(receiver, 'gateway.tokens'), 'token_type')
    expect({ input, cache_read, output }).toEqual({
      input: row?.input,
      cache_read: row?.cache_read,
      output: row?.output,
    })
    expect(total(ofMetric(receiver, 'gateway.cost.usd'))).toBeCloseTo(Number(row?.cost) / 1e12, 10)
    expect(by(ofMetric(receiver, 'gateway.usage_records'), 'pricing_status')).toEqual(
      Object.fromEntries(statuses.map(({ pricing_status, rows }) => [pricing_status, rows])),
    )
  })

  test('spans arrive for all of them when the gateway stops, and no secret is in anything', async () => {
    expect(await gateway.end('SIGTERM')).toBe(0)
    const servers = receiver.spans.filter(({ kind }) => kind === 'server')
    expect(servers).toHaveLength(200)
    const clients = receiver.spans.filter(({ kind }) => kind === 'client')
    const calls = kinds.filter(({ outcome }) => outcome !== 'invalid_request').length
    expect(clients.length).toBeGreaterThan((200 * calls) / kinds.length - kinds.length)
    for (const { parentSpanId } of clients) {
      expect(servers.filter(({ spanId }) => spanId === parentSpanId)).toHaveLength(1)
    }
    const everything = receiver.bodies.join('\n')
    expect(everything).toContain('nightly')
    expect(everything).not.toContain(CANARY)
    expect(everything).not.toContain(adaKey)
    expect(everything).not.toContain(adaKey.split('.')[1] ?? '')
  }, 20_000)
})

describe('one trace', () => {
  let receiver: OtlpReceiver
  let gateway: GatewayProcess
  const callerTrace = '0af7651916cd43dd8448eb211c80319c'
  const callerSpan = 'b7ad6b7169203331'

  beforeAll(async () => {
    receiver = startOtlpReceiver()
    gateway = await startGateway(upstream, { otel_endpoint: receiver.url })
    upstream.clear()
  })
  afterAll(async () => {
    await gateway?.remove()
    await receiver?.stop()
  })

  test('runs from the caller through the gateway to the upstream', async () => {
    const traceparent = `00-${callerTrace}-${callerSpan}-01`
    const ask = { body: { ...chat, stream: true }, headers: { ...tagged, traceparent } }
    await (
      await send(gateway, { ...ask, headers: { ...ask.headers, 'x-request-id': 'r-1' } })
    ).text()
    await (await send(gateway, { headers: { traceparent: traceparent.replace(/1$/, '0') } })).text()
    await (await send(gateway, { headers: { traceparent: 'nonsense' } })).text()
    upstream.script(secretError(503))
    await (await send(gateway, {})).text()
    const [first, unsampled, own] = upstream.journal.calls.map((c) => c.headers.traceparent ?? '')
    expect(await gateway.end('SIGTERM')).toBe(0)

    const server = receiver.spans.find((span) => span.parentSpanId === callerSpan)
    const client = receiver.spans.find((span) => span.parentSpanId === server?.spanId)
    expect(first).toBe(`00-${callerTrace}-${client?.spanId}-01`)
    expect(server).toMatchObject({
      traceId: callerTrace,
      name: 'POST /v1/chat/completions',
      kind: 'server',
      failed: false,
      attributes: {
        'http.route': '/v1/chat/completions',
        'http.response.status_code': 200,
        'gateway.request_id': 'r-1',
        'gateway.outcome': 'success',
        'gateway.stream': true,
        'gateway.resolved_model': 'priced',
        'gateway.tag.service': 'search',
        'gateway.tag.env': 'prod',
        'gateway.tag.job': 'nightly',
      },
    })
    expect(client).toMatchObject({
      traceId: callerTrace,
      name: 'chat u-priced',
      kind: 'client',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'up',
        'gen_ai.request.model': 'u-priced',
        'gen_ai.usage.input_tokens': 24,
        'gen_ai.usage.output_tokens': 17,
      },
    })
    expect(client?.startMs).toBeGreaterThanOrEqual(server?.startMs ?? Number.POSITIVE_INFINITY)
    expect(client?.endMs).toBeLessThanOrEqual(server?.endMs ?? 0)

    // Not sampled by the caller: the same trace goes on, still not sampled, and has no spans here.
    expect(unsampled).toMatch(new RegExp(`^00-${callerTrace}-[0-9a-f]{16}-00$`))
    expect(receiver.spans.filter(({ traceId }) => traceId === callerTrace)).toHaveLength(2)
    // An invalid header begins a trace.
    expect(own).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    expect(own).not.toContain(callerTrace)
    // A failed call fails both spans.
    expect(
      receiver.spans
        .filter(({ failed }) => failed)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['client', 'server'])
  }, 20_000)
})
