import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { ExchangeRecord, ObservedRequest } from 'model-gateway/observer'
import { pino } from 'pino'
import { noTags } from '../../kernel/lifecycle/tags.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../../test/harness/otlp.ts'
import { startTelemetry, type Telemetry } from './otel.ts'
import { exchange, settings } from './testing.ts'

const request = {} as ObservedRequest
let receiver: OtlpReceiver
let telemetry: Telemetry

beforeEach(async () => {
  receiver = startOtlpReceiver()
  telemetry = await startTelemetry(
    settings({ metricsUrl: `${receiver.url}/v1/metrics` }),
    pino({ enabled: false }),
  )
})
afterEach(async () => {
  await receiver.stop()
})

/** Records exchanges, stops, and returns the points of the last export by metric. */
async function exported(exchanges: Iterable<Partial<ExchangeRecord>>) {
  for (const changes of exchanges) {
    telemetry.observers[0]?.observe(request)?.finished?.(exchange(changes))
  }
  await telemetry.stop()
  return (metric: string) =>
    receiver.points
      .filter((point) => point.metric === metric)
      .map(({ labels, value, count }) => ({ labels, value, count }))
}

const usage = {
  uncachedInput: 10,
  cacheRead: 4,
  cacheWrite: undefined,
  output: 7,
  reasoning: 3,
  promptTokens: 14,
  totalTokens: 21,
}
const base = { operation: 'chat_completions', resolved_model: 'm', provider: 'p' }

test('requests with the same labels are one series', async () => {
  const points = await exported([
    {},
    { latencyMs: 1250 },
    { statusCode: 502, outcome: 'upstream_error' },
  ])
  const labels = { ...base, requested_model: 'm', stream: false }
  expect(points('gateway.requests')).toEqual([
    { labels: { ...labels, status_code: 200, outcome: 'success' }, value: 2, count: undefined },
    {
      labels: { ...labels, status_code: 502, outcome: 'upstream_error' },
      value: 1,
      count: undefined,
    },
  ])
  expect(points('gateway.request.duration')[0]).toMatchObject({ value: 1.5, count: 2 })
})

test('tokens are counted by kind; missing and implausible counts add nothing', async () => {
  const points = await exported([{ usage }, { usage: { ...usage, output: -5, reasoning: 0 } }])
  expect(
    Object.fromEntries(points('gateway.tokens').map((p) => [p.labels.token_type, p.value])),
  ).toEqual({ input: 20, cache_read: 8, output: 7, reasoning: 3 })
})

test('only ledger rows are usage records and cost', async () => {
  const points = await exported([
    {
      settlement: {
        kind: 'ledger',
        pricingStatus: 'priced',
        unpricedReason: undefined,
        costPicoUsd: 1_500_000_000_000n,
      },
    },
    {
      settlement: {
        kind: 'ledger',
        pricingStatus: 'usage_missing',
        unpricedReason: undefined,
        costPicoUsd: undefined,
      },
    },
    { settlement: { kind: 'rejected', costPicoUsd: 9n } },
    { settlement: { kind: 'none' } },
  ])
  expect(points('gateway.cost.usd').map(({ value }) => value)).toEqual([1.5])
  expect(
    points('gateway.usage_records').map(({ labels, value }) => [labels.pricing_status, value]),
  ).toEqual([
    ['priced', 1],
    ['usage_missing', 1],
  ])
  expect(points('gateway.usage_record_failures')).toEqual([])
})

test('a call that was made and not settled is a failure, unlike one that was never made', async () => {
  const points = await exported([
    { settlement: undefined, statusCode: 503, outcome: 'internal_error' },
    { settlement: undefined, attempts: [], statusCode: 404, outcome: 'invalid_request' },
  ])
  expect(points('gateway.usage_record_failures').map(({ value }) => value)).toEqual([1])
})

test('tool counts of zero are counted, absent ones are not', async () => {
  const points = await exported([
    { exposedToolCount: 3, invokedToolCount: 0 },
    { exposedToolCount: 0 },
    {},
  ])
  expect(points('gateway.tool_cardinality')).toEqual([
    { labels: { ...base, dimension: 'exposed' }, value: 3, count: 2 },
    { labels: { ...base, dimension: 'invoked' }, value: 0, count: 1 },
  ])
})

test('unknown models, and variants of a selector, are not labels', async () => {
  const points = await exported([
    { requestedModel: 'secret thing', resolvedModel: undefined, provider: undefined },
    { requestedModel: 'tag:a,b' },
    { requestedModel: 'tag:b,a' },
  ])
  expect(
    points('gateway.requests').map(({ labels, value }) => [labels.requested_model, value]),
  ).toEqual([
    ['unknown', 1],
    ['tag', 2],
  ])
})

test('a hundred values of a tag are separate, and all values are counted', async () => {
  const services = Array.from({ length: 150 }, (_, n) => ({
    tags: { ...noTags, service: `s${n}` },
  }))
  const points = await exported([
    ...services,
    ...services,
    {},
    { tags: { ...noTags, service: 'undefined' } },
  ])
  const requests = points('gateway.requests')
  const values = new Map(requests.map(({ labels, value }) => [labels.service, value]))
  expect(values.size).toBe(102)
  expect(values.get('s99')).toBe(2)
  expect(values.get('other')).toBe(101)
  expect(values.get(undefined)).toBe(1)
})

test('combinations of labels are limited, and all requests are counted', async () => {
  function* combinations() {
    for (let a = 0; a < 100; a++) {
      for (let b = 0; b < 100; b++) {
        yield { tags: { ...noTags, service: `a${a}`, component: `b${b}` } }
      }
    }
  }
  const points = await exported(combinations())
  const requests = points('gateway.requests')
  expect(requests).toHaveLength(4001)
  expect(requests.reduce((sum, { value }) => sum + value, 0)).toBe(10_000)
  expect(requests.at(-1)).toMatchObject({
    labels: { service: 'other', component: 'other' },
    value: 6000,
  })
})

test('model names are separate up to a limit, because a wildcard matches any number', async () => {
  const points = await exported(
    Array.from({ length: 2100 }, (_, n) => ({ requestedModel: `m${n}`, resolvedModel: `m${n}` })),
  )
  const requests = points('gateway.requests')
  expect(requests).toHaveLength(2001)
  const rest = { labels: { requested_model: 'other', resolved_model: 'other' }, value: 100 }
  expect(requests.at(-1)).toMatchObject(rest)
})

test('units are UCUM, others in braces, because backends put the units into the names', async () => {
  const settlement = {
    kind: 'ledger',
    pricingStatus: 'priced',
    unpricedReason: undefined,
    costPicoUsd: 5n,
  } as const
  await exported([{ usage, settlement, exposedToolCount: 1 }])
  const metric = /"name":"(gateway\.[\w.]+)"[^[\]]*?"unit":"([^"]*)"/g
  const units = [...receiver.bodies.join().matchAll(metric)]
  expect(Object.fromEntries(units.map(([, name, unit]) => [name, unit]))).toEqual({
    'gateway.requests': '{request}',
    'gateway.request.duration': 's',
    'gateway.tokens': '{token}',
    'gateway.cost.usd': '{USD}',
    'gateway.usage_records': '{row}',
    'gateway.tool_cardinality': '{tool}',
  })
})

test('an export of many series is split into requests of limited size, each point once', async () => {
  const exchanges = Array.from({ length: 1200 }, (_, n) => ({
    requestedModel: `model-${n}`,
    resolvedModel: `model-${n}`,
    usage,
  }))
  const points = await exported(exchanges)
  expect(points('gateway.requests')).toHaveLength(1200)
  expect(points('gateway.request.duration')).toHaveLength(1200)
  expect(points('gateway.tokens')).toHaveLength(4800)
  const sent = receiver.bodies.map(({ length }) => length)
  expect(sent.length).toBeGreaterThan(3)
  expect(Math.max(...sent)).toBeLessThan(1_500_000)
})
