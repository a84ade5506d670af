import { type ConfigDraft, WRITE } from 'model-gateway/host'
import { configSection, isJsonObject, type Problem, type Static, Type } from 'model-gateway/plugin'

// Without user and password: those belong in OTEL_EXPORTER_OTLP_HEADERS, not in a config file.
const otlpUrl = (description: string) =>
  Type.String({
    pattern: '^https?://(\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(/[^\\s?#]*)?$',
    description,
    [WRITE]: 'write a URL such as http://collector:4318',
  })

/** The keys of section `server` that say where traces and metrics go. */
export const telemetryKeys = configSection(
  'server',
  Type.Object({
    otel_endpoint: Type.Optional(otlpUrl('Endpoint for traces and metrics, by OTLP over HTTP')),
    otel_metrics_endpoint: Type.Optional(
      otlpUrl('Different endpoint for metrics, by OTLP over HTTP'),
    ),
    // More seconds than a timer can count would make it run all the time.
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

/** What the patterns let pass and nothing can connect to. */
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

/** Where traces and metrics go by OTLP over HTTP. */
export interface Endpoints {
  /** Absent: no traces are made. */
  readonly tracesUrl: string | undefined
  /** Absent: no metrics are made. */
  readonly metricsUrl: string | undefined
}

export function endpointsOf(server: Static<typeof telemetryKeys.schema>): Endpoints {
  const { otel_endpoint, otel_metrics_endpoint = otel_endpoint } = server
  return {
    tracesUrl: otel_endpoint && signalUrl(otel_endpoint, 'traces'),
    metricsUrl: otel_metrics_endpoint && signalUrl(otel_metrics_endpoint, 'metrics'),
  }
}

/** OTLP's own path below an endpoint, which may be the address of one of the signals already. */
function signalUrl(endpoint: string, signal: 'traces' | 'metrics'): string {
  const base = endpoint.replace(/\/$/, '').replace(/\/v1\/(traces|metrics)$/, '')
  return `${base}/v1/${signal}`
}
