import {
  ada,
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../harness/gateway.ts'
import { type McpUpstream, startMcpUpstream } from './mcp-upstream.fixture.ts'

/** Part of every secret that must not come out. */
export const CANARY = 'canary-51d7'
export const bobKey = testKey('bob')

interface Ask {
  readonly method?: string
  readonly key?: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** A gateway before one server, which it knows under several names. */
export interface McpBench {
  readonly gateway: TestGateway
  readonly upstream: McpUpstream
  /** To `tools`, `secret`, `personal` or `slow`. */
  send(server: string, ask?: Ask): Promise<Response>
  /** The closed row of a tool call. */
  rowOf(reply: Response | string): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

export async function startMcpBench(): Promise<McpBench> {
  const upstream = startMcpUpstream()
  process.env.GATEWAY_MCP_SECRET_CANARY = `${CANARY}-upstream-token`
  const server = (server_key: string, more = {}) => ({
    server_key,
    display_name: server_key,
    server_url: upstream.url,
    allow_private: true,
    ...more,
  })
  const bob = {
    name: 'Bob',
    email: 'bob@example.com',
    api_keys: [{ name: 'test', value: `literal.${bobKey}`, all_models: true }],
  }
  const gateway = await startTestGateway({
    users: [ada, bob],
    mcp: {
      allow_private_networks: true,
      allowed_origins: ['https://app.example.com'],
      servers: [
        server('tools'),
        server('secret', {
          auth_mode: 'gateway_bearer_token',
          auth_config: { secret_ref: 'env/GATEWAY_MCP_SECRET_CANARY' },
        }),
        server('personal', {
          auth_mode: 'user_passthrough',
          server_url: 'https://mcp.example.com/',
        }),
        server('slow', { timeout_ms: 1000 }),
      ],
    },
  })
  return {
    gateway,
    upstream,
    send(name, { method = 'POST', key = adaKey, headers = {}, body, signal } = {}) {
      return fetch(`${gateway.url}/mcp/${name}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          accept: 'application/json, text/event-stream',
          ...(method === 'POST' && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      })
    },
    rowOf(reply) {
      const id = typeof reply === 'string' ? reply : (reply.headers.get('x-request-id') ?? '')
      return eventually(async () => {
        const [row] = await gateway.sql`
          select * from mcp_audit.mcp_tool_invocations
          where request_id = ${id} and status <> 'started'`
        return row
      })
    },
    async stop() {
      delete process.env.GATEWAY_MCP_SECRET_CANARY
      await gateway.stop()
      await upstream.stop()
    },
  }
}
