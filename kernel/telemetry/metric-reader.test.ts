import { afterEach, expect, test } from 'bun:test'
import { DiagLogLevel, diag } from '@opentelemetry/api'
import { createHistograms } from './histograms.ts'
import { createMetricReader } from './metric-reader.ts'

afterEach(() => diag.disable())

test('a collector whose reply does not end is told of, and given up', async () => {
  const warnings: string[] = []
  const ignore = () => {}
  const warn = (message: string) => warnings.push(message)
  const logger = { error: ignore, warn, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  const exporter = { export() {}, shutdown: async () => {} }
  const reader = createMetricReader(
    exporter as unknown as Parameters<typeof createMetricReader>[0],
    {
      intervalMs: 60_000,
      timeoutMs: 20,
      histograms: createHistograms(1),
    },
  )
  const scopeMetrics = [{ scope: { name: 'test' }, metrics: [{ dataPoints: [{}] }] }]
  reader.setMetricProducer({
    collect: async () => ({ resourceMetrics: { resource: {}, scopeMetrics }, errors: [] }),
  } as unknown as Parameters<typeof reader.setMetricProducer>[0])
  await reader.shutdown()
  expect(warnings).toEqual(['metrics: the reply of the collector did not end in time'])
})
