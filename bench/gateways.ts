import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { adaKey } from '../test/harness/gateway.ts'
import { spawnGateway } from '../test/harness/process.ts'
import { MCP_PATH } from './mcp.ts'

/** T, transparent: key, access, routing, reply. G, governed: what a gateway does by default. */
export type Profile = 'T' | 'G'

export interface BenchGateway {
  readonly url: string
  readonly pid: number
  readonly headers: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** What stands in the model's price list under this name is of no matter, but it must be there. */
const UPSTREAM_MODEL = 'gpt-4.1-mini'
export const MODEL = 'chat'

export interface GatewayOptions {
  readonly profile: Profile
  readonly upstreamUrl: string
  readonly databaseUrl: string
  /** Where telemetry goes, for gateways that export any. */
  readonly otlpUrl: string | undefined
  readonly env?: Readonly<Record<string, string>>
}

/** A gateway as an operator runs it, in one of the two profiles. */
export async function startBenchGateway(options: GatewayOptions): Promise<BenchGateway> {
  const { databaseUrl, env = {} } = options
  const gateway = await spawnGateway(gatewayConfig(options), { databaseUrl, env })
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

function gatewayConfig({ profile, upstreamUrl, otlpUrl }: Omit<GatewayOptions, 'env'>) {
  return {
    server: {
      ...(profile === 'T' ? { ungoverned: true } : {}),
      ...(profile === 'T' || otlpUrl === undefined ? {} : { otel_endpoint: otlpUrl }),
    },
    ...(profile === 'T'
      ? { plugins: [{ use: 'builtin:identity' }, { use: 'builtin:generic-compat' }] }
      : {}),
    providers: [
      {
        id: 'upstream',
        type: 'generic_compat',
        base_url: `${upstreamUrl}/v1`,
        auth: { mode: 'bearer', token: 'literal.upstream' },
        pricing_provider_id: 'openai',
      },
    ],
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

/** Whether this gateway's config knows where telemetry goes. */
export async function canExportTelemetry(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  try {
    const file = join(folder, 'gateway.yaml')
    const url = 'http://127.0.0.1:1'
    const config = gatewayConfig({ profile: 'G', upstreamUrl: url, databaseUrl: '', otlpUrl: url })
    writeFileSync(file, stringify(config))
    const main = new URL('../plugins/standard/main.ts', import.meta.url).pathname
    const check = Bun.spawn([process.execPath, main, 'check-config', '--config', file], {
      stdout: 'ignore',
      stderr: 'ignore',
    })
    return (await check.exited) === 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
