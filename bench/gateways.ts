import { adaKey } from '../test/harness/gateway.ts'
import { spawnGateway } from '../test/harness/process.ts'
import { MCP_PATH } from './mcp.ts'

/**
 * T (transparent): key, access, routing, reply. G (governed): everything that a gateway does by
 * default.
 */
export type Profile = 'T' | 'G'

export interface BenchGateway {
  readonly url: string
  readonly pid: number
  readonly headers: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** Any model of the price list: its price does not matter. */
export const UPSTREAM_MODEL = 'gpt-4.1-mini'
export const MODEL = 'chat'

export interface GatewayOptions {
  readonly profile: Profile
  /** Also receives the telemetry. */
  readonly upstreamUrl: string
  readonly databaseUrl: string
  readonly env?: Readonly<Record<string, string>>
  /** Sections of the config file that replace those of the profile. */
  readonly sections?: Readonly<Record<string, unknown>>
}

/** A gateway as an operator runs it, in one of the two profiles. */
export async function startBenchGateway(options: GatewayOptions): Promise<BenchGateway> {
  const { databaseUrl, env = {}, sections = {} } = options
  const config = { ...gatewayConfig(options), ...sections }
  const gateway = await spawnGateway(config, { databaseUrl, env })
  return {
    url: `${gateway.url}/v1/chat/completions`,
    pid: gateway.pid,
    headers: { authorization: `Bearer ${adaKey}` },
    async stop() {
      await gateway.end()
      await gateway.remove()
    },
  }
}

export function upstreamProvider(upstreamUrl: string) {
  return {
    id: 'upstream',
    type: 'generic_compat',
    base_url: `${upstreamUrl}/v1`,
    auth: { mode: 'bearer', token: 'literal.upstream' },
    pricing_provider_id: 'openai',
  }
}

function gatewayConfig({ profile, upstreamUrl }: GatewayOptions) {
  return {
    server: profile === 'T' ? { ungoverned: true } : { otel_endpoint: upstreamUrl },
    ...(profile === 'T'
      ? {
          plugins: [
            { use: 'builtin:identity' },
            { use: 'builtin:generic-compat' },
            { use: 'builtin:audit-log' },
            { use: 'builtin:api-chat' },
            { use: 'builtin:api-models' },
          ],
        }
      : {}),
    providers: [upstreamProvider(upstreamUrl)],
    ...(profile === 'T'
      ? {}
      : {
          mcp: {
            allow_private_networks: true,
            servers: [
              {
                server_key: 'tools',
                display_name: 'Tools',
                server_url: `${upstreamUrl}${MCP_PATH}`,
              },
            ],
          },
        }),
    models: [
      {
        id: MODEL,
        routes: [
          {
            provider: 'upstream',
            upstream_model: UPSTREAM_MODEL,
            compatibility: { generic_compat: { supports_stream_usage: true } },
          },
        ],
      },
    ],
  }
}
