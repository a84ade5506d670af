import { context, diag, logs, metrics, propagation, trace } from '@opentelemetry/api'
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node'
import type { Logger } from 'pino'
import type { TelemetrySettings } from '../config/loaded.ts'
import { type ExchangeRecorder, inTime } from '../plugin/index.ts'
import type { McpTraced, McpTracedRequest } from '../plugin/mcp-trace.ts'
import { logDiagnostics } from './diagnostics.ts'
import { exportConnection, exportHeaders, statedResource } from './export-environment.ts'
import { createHistograms } from './histograms.ts'
import { createInstruments } from './instruments.ts'
import { createMcpTracing, passMcpTraceOn } from './mcp-trace.ts'
import { createMetricReader, MOST_SERIES } from './metric-reader.ts'
import { createSampler } from './sampler.ts'
import { createSpanExport } from './span-export.ts'
import { createTracing, passTraceOn, type RequestTrace, type TracedRequest } from './trace.ts'
import { VERSION } from './version.ts'

/** Milliseconds for one export, its retries included; after that what it held is dropped. */
const EXPORT_TIMEOUT_MS = 2000
/** Whose requests the spans and metrics tell of. */
const SERVICE = 'model-gateway'
/** Longest that a collector can hold up the end of the gateway. */
const STOP_TIMEOUT_MS = 2000

export interface Telemetry {
  /** Recorders of the kernel's own; none when no metrics are exported. */
  readonly recorders: readonly ExchangeRecorder[]
  /** Follows one inference request. */
  trace(request: TracedRequest): RequestTrace
  /** Follows one request to the MCP proxy. */
  traceMcp(request: McpTracedRequest): McpTraced
  /** Sends what is left, for up to two seconds. Never rejects. */
  stop(): Promise<void>
}

export const noTelemetry: Telemetry = {
  recorders: [],
  trace: passTraceOn,
  traceMcp: passMcpTraceOn,
  stop: () => Promise.resolve(),
}

/**
 * Starts what the config asks for and makes it the process's own: from here on the OpenTelemetry
 * API gives real meters and tracers, so call it before plugins are set up. Without an endpoint
 * nothing is loaded. A collector that cannot be reached is no error.
 */
export async function startTelemetry(settings: TelemetrySettings, log: Logger): Promise<Telemetry> {
  const { tracesUrl, metricsUrl } = settings
  if (tracesUrl === undefined && metricsUrl === undefined) return noTelemetry
  // The SDK obeys it by itself, and would leave the spans that are not its own.
  if (process.env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return noTelemetry
  // Loading these takes a tenth of a second and some memory, which only those pay who export.
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
  const attributes = resource()
  const histograms = createHistograms(MOST_SERIES)
  const sdk = new NodeSDK({
    serviceName: attributes['service.name'],
    // What could be detected beyond this costs time at the start, or asks the network.
    resourceDetectors: [{ detect: () => ({ attributes }) }],
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
  const spans =
    tracesUrl === undefined
      ? undefined
      : createSpanExport({
          url: tracesUrl,
          headers: exportHeaders(process.env),
          resource: attributes,
          scope: SERVICE,
          timeoutMs: EXPORT_TIMEOUT_MS,
          ...exportConnection(process.env),
          sent: () => diagnostics.sent('traces'),
        })
  return {
    recorders: metricsUrl === undefined ? [] : [createInstruments(metrics.getMeter(SERVICE))],
    trace:
      spans === undefined
        ? passTraceOn
        : createTracing({ sampleRatio: settings.traceSampleRatio, add: spans.add }),
    traceMcp:
      spans === undefined
        ? passMcpTraceOn
        : createMcpTracing({ sampleRatio: settings.traceSampleRatio, add: spans.add }),
    async stop() {
      const ended = sdk.shutdown().catch((error: Error) => diag.warn(error.message))
      await inTime(Promise.all([ended, spans?.stop()]), STOP_TIMEOUT_MS)
      // The next gateway of this process registers its own.
      for (const api of [trace, metrics, logs, propagation, context, diag]) api.disable()
    },
  }
}

function resource() {
  return {
    'service.name': SERVICE,
    'service.version': VERSION,
    'service.instance.id': crypto.randomUUID() as string,
    ...statedResource(process.env),
  }
}
