import { type ConfigDraft, WRITE } from 'model-gateway/host'
import { configSection, isJsonObject, type Problem, type Static, Type } from 'model-gateway/plugin'

// No user and password in the URL, because they belong in OTEL_EXPORTER_OTLP_HEADERS, not in a
// config file.
const otlpUrl = (description: string) =>
  Type.String({
    pattern: '^https?://(\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(/[^\\s?#]*)?$',
    description,
    [WRITE]: 'write a URL such as http://collector:4318',
  })

/** The keys of section `server` for OTLP export. */
export const telemetryKeys = configSection(
  'server',
  Type.Object({
    otel_endpoint: Type.Optional(otlpUrl('Endpoint for traces and metrics, by OTLP over HTTP')),
    otel_metrics_endpoint: Type.Optional(
      otlpUrl('Different endpoint for metrics, by OTLP over HTTP'),
    ),
    // Bounded, because a longer interval overflows the timer, which would then fire continuously.
    otel_export_interval_secs: Type.Number({
      minimum: 1,
      maximum: 86_400,
      default: 30,
      description: 'Seconds between two exports of metrics',
    }),
    otel_trace_sample_ratio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'Share of the traces started by the gateway that is exported',
    }),
  }),
)

/** Checks for invalid URLs that match the patterns. */
export function* checkEndpoints(draft: ConfigDraft): Iterable<Problem> {
  const server = draft.section('server')
  if (!isJsonObject(server)) return
  for (const key of ['otel_endpoint', 'otel_metrics_endpoint']) {
    const url = server[key]
    if (typeof url !== 'string' || URL.canParse(url)) continue
    const hint = 'write http://host or https://host:port, with a port up to 65535'
    yield { path: ['server', key], message: 'is not a valid URL', hint }
  }
}

/** OTLP/HTTP endpoints. */
export interface Endpoints {
  /** Absent: traces are off. */
  readonly tracesUrl: string | undefined
  /** Absent: metrics are off. */
  readonly metricsUrl: string | undefined
}

export function endpointsOf(server: Static<typeof telemetryKeys.schema>): Endpoints {
  const { otel_endpoint, otel_metrics_endpoint = otel_endpoint } = server
  return {
    tracesUrl: otel_endpoint && signalUrl(otel_endpoint, 'traces'),
    metricsUrl: otel_metrics_endpoint && signalUrl(otel_metrics_endpoint, 'metrics'),
  }
}

/** The OTLP path of a signal below an endpoint, which may already end with such a path. */
function signalUrl(endpoint: string, signal: 'traces' | 'metrics'): string {
  const base = endpoint.replace(/\/$/, '').replace(/\/v1\/(traces|metrics)$/, '')
  return `${base}/v1/${signal}`
}
