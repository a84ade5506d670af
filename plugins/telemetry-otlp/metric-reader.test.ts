import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DiagLogLevel, diag } from '@opentelemetry/api'
import { createHistograms } from './histograms.ts'
import { createMetricReader } from './metric-reader.ts'

type Parts = Parameters<typeof createMetricReader>

let warnings: string[]
beforeEach(() => {
  warnings = []
  const ignore = () => {}
  const warn = (message: string) => warnings.push(message)
  const logger = { error: ignore, warn, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
})
afterEach(() => diag.disable())

/** A reader of a number of points that passes them to `send`. */
function open(
  send: Parts[0]['export'],
  { intervalMs = 60_000, timeoutMs = 20, points = 1, fault = () => {} } = {},
) {
  const exporter = { export: send, shutdown: async () => {} }
  const histograms = createHistograms(1)
  let arrived = 0
  const sent = () => void arrived++
  const reader = createMetricReader(exporter as unknown as Parts[0], {
    intervalMs,
    timeoutMs,
    histograms,
    sent,
  })
  const dataPoints = Array.from({ length: points }, () => ({}))
  const scopeMetrics = [{ scope: { name: 'test' }, metrics: [{ dataPoints }] }]
  reader.setMetricProducer({
    async collect() {
      fault()
      return { resourceMetrics: { resource: {}, scopeMetrics: [...scopeMetrics] }, errors: [] }
    },
  } as unknown as Parameters<typeof reader.setMetricProducer>[0])
  return { reader, arrived: () => arrived }
}

test('a collector whose reply does not end is reported and aborted', async () => {
  const { reader } = open(() => {})
  await reader.shutdown()
  expect(warnings).toEqual(['metrics: the collector did not finish its reply in time'])
})

test('exports repeat, one at a time, until shutdown', async () => {
  let running = 0
  let most = 0
  let faults = 1
  const { reader, arrived } = open(
    async (_, done) => {
      most = Math.max(most, ++running)
      await Bun.sleep(15)
      running--
      done({ code: 0 })
    },
    {
      intervalMs: 5,
      timeoutMs: 60_000,
      fault() {
        if (faults-- > 0) throw new Error('planted')
      },
    },
  )
  while (arrived() < 3) await Bun.sleep(5)
  expect(most).toBe(1)
  expect(warnings).toEqual(['metrics: Error: planted'])
  await reader.shutdown()
  while (running > 0) await Bun.sleep(5)
  const atTheEnd = arrived()
  await Bun.sleep(30)
  expect(arrived()).toBe(atTheEnd)
})

test('an export in parts stops if one of them fails', async () => {
  let pieces = 0
  const { reader, arrived } = open(
    (_, done) => {
      pieces++
      done(pieces === 2 ? { code: 1, error: new Error('busy') } : { code: 0 })
    },
    { points: 5000 },
  )
  await reader.forceFlush()
  expect([pieces, arrived()]).toEqual([2, 0])
  await reader.shutdown()
  expect([pieces, arrived()]).toEqual([5, 1])
})
