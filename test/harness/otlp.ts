/** How the receiver treats what it is sent: takes it, never answers, or answers 500. */
export type ReceiverMode = 'takes' | 'never_answers' | 'fails'

export type Labels = Readonly<Record<string, string | number | boolean>>

export interface ReceivedSpan {
  readonly resource: Labels
  readonly scope: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client' | 'other'
  readonly startMs: number
  readonly endMs: number
  readonly failed: boolean
  readonly attributes: Labels
}

export interface MetricPoint {
  readonly resource: Labels
  readonly scope: string
  readonly metric: string
  readonly labels: Labels
  /** Of a histogram its sum. */
  readonly value: number
  /** Of a histogram how many values; undefined for all else. */
  readonly count: number | undefined
}

export interface OtlpReceiver {
  /** What `server.otel_endpoint` is set to. */
  readonly url: string
  /** All spans, in order of arrival. */
  readonly spans: readonly ReceivedSpan[]
  /** The points of the newest export of metrics; sums count from the start of the gateway. */
  readonly points: readonly MetricPoint[]
  /** Every body as it came. */
  readonly bodies: readonly string[]
  mode(mode: ReceiverMode): void
  stop(): Promise<void>
}

/** A collector on a loopback port that decodes OTLP over HTTP in JSON. */
export function startOtlpReceiver(): OtlpReceiver {
  let mode: ReceiverMode = 'takes'
  const bodies: string[] = []
  const spans: ReceivedSpan[] = []
  let points: MetricPoint[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text()
      bodies.push(text)
      if (mode === 'never_answers') await new Promise(() => {})
      if (mode === 'fails') return new Response('out of order', { status: 500 })
      const { pathname } = new URL(request.url)
      if (pathname === '/v1/traces') spans.push(...readSpans(JSON.parse(text)))
      else if (pathname === '/v1/metrics') points = followedBy(points, readPoints(JSON.parse(text)))
      else return new Response('no such signal', { status: 404 })
      return Response.json({})
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    get points() {
      return points
    },
    bodies,
    mode(next) {
      mode = next
    },
    stop: () => server.stop(true),
  }
}

interface WireAttribute {
  readonly key: string
  readonly value: {
    readonly stringValue?: string
    readonly boolValue?: boolean
    readonly intValue?: number | string
    readonly doubleValue?: number
  }
}
interface WireResource {
  readonly resource: { readonly attributes: readonly WireAttribute[] }
}
interface WireScope {
  readonly scope: { readonly name: string }
}
interface WireSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly WireAttribute[]
  readonly status: { readonly code?: number }
}
interface WirePoint {
  readonly attributes: readonly WireAttribute[]
  readonly asInt?: number | string
  readonly asDouble?: number
  readonly sum?: number
  readonly count?: number | string
}
interface WireData {
  readonly dataPoints: readonly WirePoint[]
}
interface WireMetric {
  readonly name: string
  readonly sum?: WireData
  readonly gauge?: WireData
  readonly histogram?: WireData
}
interface WireTraces {
  readonly resourceSpans: readonly (WireResource & {
    readonly scopeSpans: readonly (WireScope & { readonly spans: readonly WireSpan[] })[]
  })[]
}
interface WireMetrics {
  readonly resourceMetrics: readonly (WireResource & {
    readonly scopeMetrics: readonly (WireScope & { readonly metrics: readonly WireMetric[] })[]
  })[]
}

const KINDS: Readonly<Record<number, ReceivedSpan['kind']>> = {
  1: 'internal',
  2: 'server',
  3: 'client',
}
const ERROR_STATUS = 2

function readSpans({ resourceSpans }: WireTraces): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({
        resource: labels(resource.attributes),
        scope: scope.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        name: span.name,
        kind: KINDS[span.kind] ?? 'other',
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
        failed: span.status.code === ERROR_STATUS,
        attributes: labels(span.attributes),
      })),
    ),
  )
}

function readPoints({ resourceMetrics }: WireMetrics): MetricPoint[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
    scopeMetrics.flatMap(({ scope, metrics }) =>
      metrics.flatMap(({ name, sum, gauge, histogram }) =>
        (sum ?? gauge ?? histogram ?? { dataPoints: [] }).dataPoints.map((point) => ({
          resource: labels(resource.attributes),
          scope: scope.name,
          metric: name,
          labels: labels(point.attributes),
          value: Number(point.sum ?? point.asDouble ?? point.asInt),
          count: point.count === undefined ? undefined : Number(point.count),
        })),
      ),
    ),
  )
}

/** An export of many points comes in several requests; the next one begins where a series comes again. */
function followedBy(points: MetricPoint[], more: MetricPoint[]): MetricPoint[] {
  const series = ({ metric, labels }: MetricPoint) => `${metric} ${JSON.stringify(labels)}`
  const known = new Set(points.map(series))
  return more.some((point) => known.has(series(point))) ? more : [...points, ...more]
}

function labels(attributes: readonly WireAttribute[]): Labels {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const { stringValue, boolValue, doubleValue, intValue } = value
      return [key, stringValue ?? boolValue ?? doubleValue ?? Number(intValue)]
    }),
  )
}
