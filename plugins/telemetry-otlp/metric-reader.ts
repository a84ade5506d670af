import { diag } from '@opentelemetry/api'
import type { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node'
import type { Histograms } from './histograms.ts'

type MetricReader = NonNullable<NodeSDKConfiguration['metricReaders']>[number]
type MetricProducer = Parameters<MetricReader['setMetricProducer']>[0]
type Collected = Parameters<OTLPMetricExporter['export']>[0]

/** Maximum number of label combinations per instrument, far above the instruments' own limits. */
export const MOST_SERIES = 20_000

/**
 * Maximum number of points per request, because collectors limit body sizes, and serialising blocks
 * the event loop.
 */
const MOST_POINTS = 2000

/** Exports all metrics every `intervalMs`, one export at a time, and once more at the end. */
export function createMetricReader(
  exporter: OTLPMetricExporter,
  {
    intervalMs,
    timeoutMs,
    histograms,
    sent,
  }: {
    readonly intervalMs: number
    readonly timeoutMs: number
    readonly histograms: Pick<Histograms, 'collect'>
    /** Called after a successful export. */
    readonly sent?: () => void
  },
): MetricReader {
  let producer: MetricProducer | undefined
  let exporting = false

  async function collect() {
    if (producer === undefined)
      throw new Error('the metric reader is not registered with a meter provider')
    const collected = await producer.collect({ timeoutMillis: timeoutMs })
    collected.resourceMetrics.scopeMetrics.push(...histograms.collect())
    return collected
  }

  /** Resolves to whether the export succeeded. */
  function send(collected: Collected): Promise<boolean> {
    return new Promise((resolve) => {
      // The exporter has a timeout, but not for a reply that never ends.
      const giveUp = setTimeout(() => {
        diag.warn('metrics: the collector did not finish its reply in time')
        resolve(false)
      }, timeoutMs * 2)
      giveUp.unref()
      exporter.export(collected, ({ error }) => {
        clearTimeout(giveUp)
        if (error !== undefined) diag.warn(`metrics: ${error.message}`)
        resolve(error === undefined)
      })
    })
  }

  async function exportAll() {
    const { resourceMetrics, errors } = await collect()
    for (const error of errors) diag.warn(`metrics: ${error}`)
    const { resource, scopeMetrics } = resourceMetrics
    if (scopeMetrics.length === 0) return
    for (const piece of piecesOf(scopeMetrics)) {
      if (!(await send({ resource, scopeMetrics: piece }))) return
    }
    sent?.()
  }

  const timer = setInterval(async () => {
    if (exporting) return
    exporting = true
    try {
      await exportAll()
    } catch (error) {
      diag.warn(`metrics: ${error}`)
    } finally {
      exporting = false
    }
  }, intervalMs)
  timer.unref()

  return {
    setMetricProducer(its) {
      producer = its
    },
    selectAggregation: (type) => exporter.selectAggregation(type),
    selectAggregationTemporality: (type) => exporter.selectAggregationTemporality(type),
    selectCardinalityLimit: () => MOST_SERIES,
    collect,
    forceFlush: exportAll,
    async shutdown() {
      clearInterval(timer)
      await exportAll()
      await exporter.shutdown()
    },
  }
}

type ScopeMetrics = Collected['scopeMetrics']

/** All points in order, in chunks of at most `MOST_POINTS`. */
function* piecesOf(scopes: ScopeMetrics): Iterable<ScopeMetrics> {
  let piece: ScopeMetrics = []
  let room = MOST_POINTS
  for (const { scope, metrics } of scopes) {
    for (const metric of metrics) {
      for (let at = 0; at < metric.dataPoints.length; ) {
        const dataPoints = metric.dataPoints.slice(at, at + room)
        piece.push({ scope, metrics: [{ ...metric, dataPoints } as typeof metric] })
        at += dataPoints.length
        room -= dataPoints.length
        if (room > 0) continue
        yield piece
        piece = []
        room = MOST_POINTS
      }
    }
  }
  if (piece.length > 0) yield piece
}
