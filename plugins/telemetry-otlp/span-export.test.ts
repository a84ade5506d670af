import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { DiagLogLevel, diag } from '@opentelemetry/api'
import { exportConnection, exportHeaders } from './export-environment.ts'
import { attribute } from './otlp-json.ts'
import { createSpanExport } from './span-export.ts'

let statuses: number[]
let replyHeaders: Record<string, string>
let reply: string
let requests: {
  readonly headers: Headers
  readonly spans: readonly string[]
  readonly at: number
}[]
let warnings: string[]
let server: ReturnType<typeof Bun.serve>

beforeEach(() => {
  statuses = []
  replyHeaders = {}
  reply = '{}'
  requests = []
  warnings = []
  const ignore = () => {}
  const warn = (message: string) => warnings.push(message)
  const logger = { error: ignore, warn, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const bytes = new Uint8Array(await request.arrayBuffer())
      const packed = request.headers.get('content-encoding') === 'gzip'
      const text = new TextDecoder().decode(packed ? Bun.gunzipSync(bytes) : bytes)
      const { resourceSpans } = JSON.parse(text) as {
        resourceSpans: [{ scopeSpans: [{ spans: { name: string }[] }] }]
      }
      const spans = resourceSpans[0].scopeSpans[0].spans.map(({ name }) => name)
      requests.push({ headers: request.headers, spans, at: performance.now() })
      return new Response(reply, { status: statuses.shift() ?? 200, headers: replyHeaders })
    },
  })
})
afterEach(async () => {
  diag.disable()
  await server.stop(true)
})

const open = (connection = {}) =>
  createSpanExport({
    url: `http://127.0.0.1:${server.port}/v1/traces`,
    headers: { 'x-tenant': 'a' },
    resource: { 'service.name': 'test' },
    scope: 'test',
    timeoutMs: 2000,
    ...connection,
  })
const names = (count: number) => Array.from({ length: count }, (_, n) => `span ${n}`)
const addAll = (spans: ReturnType<typeof open>, list: readonly string[]) => {
  for (const name of list) spans.add(JSON.stringify({ name }))
}

test('spans arrive once and in order, in batches, with the headers', async () => {
  const spans = open()
  addAll(spans, names(1300))
  await spans.stop()
  expect(requests.flatMap((request) => request.spans)).toEqual(names(1300))
  expect(requests.length).toBeGreaterThan(2)
  expect(requests[0]?.headers.get('x-tenant')).toBe('a')
})

test('a full batch is sent at once, a few spans at shutdown', async () => {
  const spans = open()
  addAll(spans, names(515))
  while (requests.length === 0) await Bun.sleep(5)
  expect(requests[0]?.spans).toHaveLength(512)
  await spans.stop()
  expect(requests[1]?.spans).toHaveLength(3)
})

test('a busy collector is retried, a refusing one is not', async () => {
  for (const [status, times] of [
    [503, 2],
    [400, 1],
  ] as const) {
    requests = []
    statuses = [status]
    const spans = open()
    addAll(spans, names(1))
    await spans.stop()
    expect(requests).toHaveLength(times)
  }
})

test('a retry-after of the collector is followed, or the batch is dropped', async () => {
  statuses = [429]
  replyHeaders = { 'retry-after': '1' }
  const patient = open()
  addAll(patient, names(1))
  await patient.stop()
  const [first, second] = requests
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990)

  requests = []
  statuses = [503, 503, 503]
  replyHeaders = { 'retry-after': '60' }
  const spans = open()
  addAll(spans, names(3))
  const at = performance.now()
  await spans.stop()
  expect(performance.now() - at).toBeLessThan(400)
  expect(requests).toHaveLength(1)
  expect(warnings).toEqual(['traces: 3 spans were lost: the collector answered 503'])
})

test('retry-after may be a date; an invalid one means the default pause', async () => {
  for (const [header, least] of [
    [new Date(Date.now() + 1000).toUTCString(), 0],
    ['soon', 490],
  ] as const) {
    requests = []
    statuses = [503]
    replyHeaders = { 'retry-after': header }
    const spans = open()
    addAll(spans, names(1))
    await spans.stop()
    expect(requests).toHaveLength(2)
    const [first, second] = requests
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(least)
  }
})

test('a retry-after of 0 still has a pause', async () => {
  for (const header of ['0', new Date(Date.now() - 60_000).toUTCString()]) {
    requests = []
    statuses = [503, 503]
    replyHeaders = { 'retry-after': header }
    const spans = open()
    addAll(spans, names(1))
    await spans.stop()
    const [first, second, third] = requests.map(({ at }) => at)
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(490)
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(990)
  }
})

test('the pauses grow until the timeout', async () => {
  statuses = [503, 503, 503, 503, 503]
  const spans = open({ timeoutMs: 3000 })
  addAll(spans, names(1))
  await spans.stop()
  const [first, second, third, ...more] = requests.map(({ at }) => at)
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(490)
  expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(990)
  expect(more).toEqual([])
})

test('redirects of a collector are not followed with the headers', async () => {
  statuses = [307]
  replyHeaders = { location: '/elsewhere' }
  const spans = open()
  addAll(spans, names(1))
  await spans.stop()
  expect(requests).toHaveLength(1)
  expect(warnings).toEqual(['traces: 1 spans were lost: the collector answered 307'])
})

test('shutdown waits for the batch being sent', async () => {
  let arrived = 0
  const spans = open({ sent: () => arrived++ })
  statuses = [503]
  addAll(spans, names(515))
  await spans.stop()
  expect(arrived).toBe(2)
})

test('spans that a collector accepts but does not store are reported', async () => {
  for (const [text, told] of [
    ['{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}', 1],
    ['{"partialSuccess":{"rejectedSpans":0,"errorMessage":"mind the names"}}', 0],
    ['{"partialSuccess":{}}', 0],
    ['', 0],
    ['<html>', 0],
    ['null', 0],
  ] as const) {
    warnings = []
    reply = text
    const spans = open()
    addAll(spans, names(3))
    await spans.stop()
    const warning = 'traces: 2 spans were lost: the collector rejected them: too old'
    expect(warnings).toEqual(told === 1 ? [warning] : [])
  }
})

test('spans are compressed if the environment enables it, like metrics', async () => {
  for (const [env, encoding] of [
    [{ OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }, 'gzip'],
    [
      { OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip', OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'none' },
      null,
    ],
    [{}, null],
  ] as const) {
    requests = []
    const spans = open(exportConnection(env))
    addAll(spans, names(40))
    await spans.stop()
    expect(requests.flatMap((request) => request.spans)).toEqual(names(40))
    expect(requests[0]?.headers.get('content-encoding')).toBe(encoding)
  }
})

test('unreadable certificates are reported, and the others are used', () => {
  const file = new URL('./otlp-json.ts', import.meta.url).pathname
  const { tls } = exportConnection({
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere/ca.pem',
    OTEL_EXPORTER_OTLP_CLIENT_KEY: '/nowhere/key.pem',
    OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: file,
    OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: file,
  })
  expect(tls).toEqual({ cert: expect.any(String), key: expect.any(String) })
  expect(warnings).toEqual([
    expect.stringContaining('OTEL_EXPORTER_OTLP_CERTIFICATE cannot be read'),
  ])
})

test('the queue is bounded', async () => {
  const spans = open()
  addAll(spans, names(10_000))
  await spans.stop()
  const sent = requests.flatMap((request) => request.spans)
  expect(sent).toEqual(names(sent.length))
  expect(sent.length).toBeLessThan(4096)
  const lost = `traces: ${10_000 - sent.length} spans were lost: the queue was full`
  expect(warnings).toEqual([lost])
})

test('full batches are sent one after the other, as long as they arrive', async () => {
  const spans = open()
  for (let batch = 1; batch <= 3; batch++) {
    addAll(spans, names(512))
    while (requests.length < batch) await Bun.sleep(1)
    // The reply must arrive, too.
    await Bun.sleep(20)
  }
  await spans.stop()
  expect(requests.map((request) => request.spans.length)).toEqual([512, 512, 512])
})

test('a few spans, and the rest after a full batch, do not wait long', async () => {
  jest.useFakeTimers()
  try {
    let arrived = Promise.withResolvers<void>()
    const sent = () => arrived.resolve()
    const spans = open({ sent })
    for (const [count, batches] of [
      [3, [3]],
      [2, [2]],
      [515, [512, 3]],
    ] as const) {
      requests = []
      addAll(spans, names(count))
      for (const batch of batches) {
        if (batch < 512) jest.advanceTimersByTime(5000)
        await arrived.promise
        arrived = Promise.withResolvers()
        // The export must have ended.
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
      expect(requests.map((request) => request.spans.length)).toEqual([...batches])
    }
    await spans.stop()
  } finally {
    jest.useRealTimers()
  }
})

test('headers come from the environment, those for traces win', () => {
  expect(
    exportHeaders({
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc%3D, x-a=1,nonsense,=2',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-a=%',
    }),
  ).toEqual({ authorization: 'Basic abc=', 'x-a': '%' })
  expect(exportHeaders({})).toEqual({})
})

test('attributes have the type of their value', () => {
  const values = ['a "b"', true, 3, 2.5].map((value) => JSON.parse(attribute('k', value)).value)
  expect(values).toEqual([
    { stringValue: 'a "b"' },
    { boolValue: true },
    { intValue: 3 },
    { doubleValue: 2.5 },
  ])
})
