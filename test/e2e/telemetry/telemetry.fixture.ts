import { adaKey } from '../../harness/gateway.ts'
import type { MetricPoint, OtlpReceiver } from '../../harness/otlp.ts'
import { type GatewayProcess, spawnGateway } from '../../harness/process.ts'
import type { Upstream } from '../../harness/upstream.ts'

/** In every text that telemetry must not export. */
export const CANARY = 'canary-7f3a'

/** One priced and one unpriced model, and one without tools. */
export function telemetryConfig(upstream: Upstream, server: Record<string, unknown>) {
  const route = (upstream_model: string) => ({
    provider: 'up',
    upstream_model,
    compatibility: { generic_compat: { supports_stream_usage: true } },
  })
  return {
    server,
    providers: [
      {
        id: 'up',
        type: 'generic_compat',
        base_url: upstream.url,
        auth: { mode: 'bearer', token: `literal.${CANARY}-upstream-token` },
        default_headers: { 'x-extra': `${CANARY}-header` },
        pricing_provider_id: 'test',
      },
    ],
    models: [
      { id: 'priced', tags: ['fast'], routes: [route('u-priced')] },
      { id: 'unpriced', routes: [route('u-unpriced')] },
      { id: 'plain', routes: [{ ...route('u-plain'), capabilities: { tools: false } }] },
      { id: 'nick', alias_of: 'priced' },
    ],
    pricing: {
      overrides: [
        {
          pricing_provider_id: 'test',
          model: 'u-priced',
          input_usd_per_million: '2.5',
          cache_read_usd_per_million: '0.25',
          output_usd_per_million: '10',
        },
      ],
    },
  }
}

/** A process, because OpenTelemetry keeps its exporters in global variables. */
export function startGateway(
  upstream: Upstream,
  server: Record<string, unknown>,
  env: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  return spawnGateway(telemetryConfig(upstream, server), { env })
}

export interface Ask {
  readonly path?: string
  readonly body?: Record<string, unknown> | string
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

const messages = [{ role: 'user', content: `${CANARY}-prompt` }]
export const chat = { model: 'priced', messages }
export function send(gateway: { readonly url: string }, ask: Ask): Promise<Response> {
  const { path = '/v1/chat/completions', body = chat, headers = {}, signal } = ask
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adaKey}`,
      cookie: `session=${CANARY}-cookie`,
      'user-agent': `${CANARY}-agent`,
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
}

export const ofMetric = (receiver: OtlpReceiver, metric: string) =>
  receiver.points.filter((point) => point.metric === metric)
export const total = (points: readonly MetricPoint[]) => points.reduce((sum, p) => sum + p.value, 0)

/** Sums of a metric by one of its labels. */
export function by(points: readonly MetricPoint[], label: string): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { labels, value } of points) {
    const key = String(labels[label])
    sums[key] = (sums[key] ?? 0) + value
  }
  return sums
}
