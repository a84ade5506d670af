import { readFileSync } from 'node:fs'
import { diag } from '@opentelemetry/api'
import type { Static } from 'model-gateway/plugin'
import { type Endpoints, endpointsOf, type telemetryKeys } from './config.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The service name and further resource attributes. */
export const SERVICE = 'model-gateway'

/** Export settings, from the config and the standard environment variables. */
export interface ExportSettings extends Endpoints {
  readonly exportIntervalMs: number
  /** Share of the traces started here that is kept, from 0 to 1. */
  readonly traceSampleRatio: number
  readonly resource: Readonly<Record<string, string>> & { readonly 'service.name': string }
  readonly headers: Readonly<Record<string, string>>
  /** Reads the certificates; logs those that cannot be read. */
  connection(): ExportConnection
}

export interface ExportConnection {
  readonly compress: boolean
  readonly tls?: ExportTls
}

/** The export settings; undefined if export is off. */
export function exportSettings(
  server: Static<typeof telemetryKeys.schema>,
  version: string,
  env: Environment,
): ExportSettings | undefined {
  const endpoints = endpointsOf(server)
  if (endpoints.tracesUrl === undefined && endpoints.metricsUrl === undefined) return undefined
  // The SDK also reads this variable and would drop the spans that it did not create.
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return undefined
  return {
    ...endpoints,
    exportIntervalMs: server.otel_export_interval_secs * 1000,
    traceSampleRatio: server.otel_trace_sample_ratio,
    resource: {
      'service.name': SERVICE,
      'service.version': version,
      'service.instance.id': crypto.randomUUID(),
      ...statedResource(env),
    },
    headers: exportHeaders(env),
    connection: () => exportConnection(env),
  }
}

/**
 * Headers for the collector from the standard's environment variables, `name=value,…` with values
 * in percent encoding; those for traces win.
 */
export function exportHeaders(env: Environment): Record<string, string> {
  return {
    ...pairsOf(env.OTEL_EXPORTER_OTLP_HEADERS),
    ...pairsOf(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
  }
}

/** Certificates as PEM. */
export interface ExportTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** TLS settings from those variables, which the SDK's exporters also read. */
export function exportConnection(env: Environment): ExportConnection {
  const ca = pem(env, 'CERTIFICATE')
  const cert = pem(env, 'CLIENT_CERTIFICATE')
  const key = pem(env, 'CLIENT_KEY')
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  const compress = named(env, 'COMPRESSION')?.value === 'gzip'
  return { compress, ...(ca || cert || key ? { tls } : {}) }
}

function named(env: Environment, what: string) {
  for (const name of [`OTEL_EXPORTER_OTLP_TRACES_${what}`, `OTEL_EXPORTER_OTLP_${what}`]) {
    const value = env[name]?.trim()
    if (value) return { name, value }
  }
  return undefined
}

function pem(env: Environment, what: string): string | undefined {
  const file = named(env, what)
  if (file === undefined) return undefined
  try {
    return readFileSync(file.value, 'utf8')
  } catch (error) {
    diag.warn(`${file.name} cannot be read: ${(error as Error).message}`)
    return undefined
  }
}

/** Resource attributes from those variables; OTEL_SERVICE_NAME wins. */
function statedResource(env: Environment): Record<string, string> {
  const { OTEL_SERVICE_NAME: name } = env
  return { ...pairsOf(env.OTEL_RESOURCE_ATTRIBUTES), ...(name && { 'service.name': name }) }
}

function pairsOf(text = ''): Record<string, string> {
  const pairs: Record<string, string> = {}
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=')
    if (at > 0) pairs[pair.slice(0, at).trim()] = decoded(pair.slice(at + 1).trim())
  }
  return pairs
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
