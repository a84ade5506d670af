import { afterEach, beforeEach, expect, test } from 'bun:test'
import { attribute, createSpanExport, exportHeaders } from './span-export.ts'

let statuses: number[]
let requests: { readonly headers: Headers; readonly spans: readonly string[] }[]
let server: ReturnType<typeof Bun.serve>

beforeEach(() => {
  statuses = []
  requests = []
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { resourceSpans } = (await request.json()) as {
        resourceSpans: [{ scopeSpans: [{ spans: { name: string }[] }] }]
      }
      const spans = resourceSpans[0].scopeSpans[0].spans.map(({ name }) => name)
      requests.push({ headers: request.headers, spans })
      return new Response('{}', { status: statuses.shift() ?? 200 })
    },
  })
})
afterEach(() => server.stop(true))

const open = () =>
  createSpanExport({
    url: `http://127.0.0.1:${server.port}/v1/traces`,
    headers: { 'x-tenant': 'a' },
    resource: { 'service.name': 'test' },
    scope: 'test',
    timeoutMs: 2000,
  })
const names = (count: number) => Array.from({ length: count }, (_, n) => `span ${n}`)
const addAll = (spans: ReturnType<typeof open>, list: readonly string[]) => {
  for (const name of list) spans.add(JSON.stringify({ name }))
}

test('what is added arrives once and in order, in batches, with the headers', async () => {
  const spans = open()
  addAll(spans, names(1300))
  await spans.stop()
  expect(requests.flatMap((request) => request.spans)).toEqual(names(1300))
  expect(requests.length).toBeGreaterThan(2)
  expect(requests[0]?.headers.get('x-tenant')).toBe('a')
})

test('a full batch goes out at once, a few spans with the end', async () => {
  const spans = open()
  addAll(spans, names(515))
  while (requests.length === 0) await Bun.sleep(5)
  expect(requests[0]?.spans).toHaveLength(512)
  await spans.stop()
  expect(requests[1]?.spans).toHaveLength(3)
})

test('a collector that is busy is asked again, one that refuses is not', async () => {
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

test('what waits is bounded', async () => {
  const spans = open()
  addAll(spans, names(10_000))
  await spans.stop()
  const sent = requests.flatMap((request) => request.spans)
  expect(sent).toEqual(names(sent.length))
  expect(sent.length).toBeLessThan(4096)
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
