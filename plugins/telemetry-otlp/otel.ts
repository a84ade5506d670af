import { context, diag, logs, metrics, propagation, trace } from '@opentelemetry/api'
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node'
import type { McpObserver } from 'model-gateway/mcp'
import type { Observer } from 'model-gateway/observer'
import { inTime } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { logDiagnostics } from './diagnostics.ts'
import { type ExportSettings, SERVICE } from './export-environment.ts'
import { createHistograms } from './histograms.ts'
import { createInstruments } from './instruments.ts'
import { createMcpTracing } from './mcp-trace.ts'
import { createMetricReader, MOST_SERIES } from './metric-reader.ts'
import { createSampler } from './sampler.ts'
import { createSpanExport } from './span-export.ts'
import { createTracing } from './trace.ts'

/** Timeout of one export including retries, in milliseconds; then its data is dropped. */
const EXPORT_TIMEOUT_MS = 2000
/** Maximum delay of the shutdown by a collector. */
const STOP_TIMEOUT_MS = 2000

export interface Telemetry {
  readonly observers: readonly Observer[]
  readonly mcpObservers: readonly McpObserver[]
  /** Exports the remaining data, for up to two seconds. Never rejects. */
  stop(): Promise<void>
}

/**
 * Starts exporting and registers globally: from then on the OpenTelemetry API returns real meters
 * and tracers, so call it before other plugins are set up. An unreachable collector is not an
 * error.
 */
export async function startTelemetry(settings: ExportSettings, log: Logger): Promise<Telemetry> {
  const { tracesUrl, metricsUrl, resource } = settings
  // Loaded only if export is on, because loading takes 0.1 s and memory.
  const [
    { NodeSDK },
    { OTLPTraceExporter },
    { OTLPMetricExporter, AggregationTemporalityPreference },
  ] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/exporter-metrics-otlp-http'),
  ])
  const timeoutMillis = EXPORT_TIMEOUT_MS
  const histograms = createHistograms(MOST_SERIES)
  const sdk = new NodeSDK({
    serviceName: resource['service.name'],
    // Other resource detectors slow the start, or use the network.
    resourceDetectors: [{ detect: () => ({ attributes: resource }) }],
    instrumentations: [],
    logRecordProcessors: [],
    sampler: createSampler(settings.traceSampleRatio),
    metricReaders:
      metricsUrl === undefined
        ? []
        : [
            createMetricReader(
              new OTLPMetricExporter({
                url: metricsUrl,
                timeoutMillis,
                temporalityPreference: AggregationTemporalityPreference.CUMULATIVE,
              }),
              {
                intervalMs: settings.exportIntervalMs,
                timeoutMs: EXPORT_TIMEOUT_MS,
                histograms,
                sent: () => diagnostics.sent('metrics'),
              },
            ),
          ],
    ...(tracesUrl === undefined
      ? { spanProcessors: [] }
      : { traceExporter: new OTLPTraceExporter({ url: tracesUrl, timeoutMillis }) }),
  } satisfies Partial<NodeSDKConfiguration>)
  sdk.start()
  if (metricsUrl !== undefined) {
    const meters = histograms.meters(metrics.getMeterProvider())
    metrics.disable()
    metrics.setGlobalMeterProvider(meters)
  }
  const diagnostics = logDiagnostics(log)
  const observers: Observer[] = []
  if (metricsUrl !== undefined) {
    const finished = createInstruments(metrics.getMeter(SERVICE)).record
    observers.push({ observe: () => ({ finished }) })
  }
  const spans =
    tracesUrl === undefined
      ? undefined
      : createSpanExport({
          url: tracesUrl,
          headers: settings.headers,
          resource,
          scope: SERVICE,
          timeoutMs: EXPORT_TIMEOUT_MS,
          ...settings.connection(),
          sent: () => diagnostics.sent('traces'),
        })
  const tracing = spans && { sampleRatio: settings.traceSampleRatio, add: spans.add }
  if (tracing !== undefined) observers.push({ observe: createTracing(tracing) })
  return {
    observers,
    mcpObservers: tracing === undefined ? [] : [{ observe: createMcpTracing(tracing) }],
    async stop() {
      const ended = sdk.shutdown().catch((error: Error) => diag.warn(error.message))
      await inTime(Promise.all([ended, spans?.stop()]), STOP_TIMEOUT_MS)
      // Unregistered, because the next gateway in this process registers again.
      for (const api of [trace, metrics, logs, propagation, context, diag]) api.disable()
    },
  }
}
