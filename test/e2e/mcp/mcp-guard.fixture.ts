import type { Row } from 'postgres'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { inspected } from '../guardrails/__fixtures__/keyword-guard.ts'
import { fine, idOf, type McpUpstream, startMcpUpstream } from './mcp-upstream.fixture.ts'

const guard = new URL('../guardrails/__fixtures__/keyword-guard.ts', import.meta.url).pathname

export interface GuardedMcp {
  readonly upstream: McpUpstream
  readonly gateway: TestGateway
  /** Forgets what was scripted and seen. */
  reset(): void
  /** A message by POST, a string as it is; without one, a stream by GET. */
  send(
    body: unknown,
    options?: { server?: string; session?: string; headers?: Record<string, string> },
  ): Promise<{ status: number; text: string; id: string | null }>
  /** Opens a session with the server; its id. */
  session(): Promise<string>
  /** The audit row of a request, once it is no longer open, with its payload. */
  row(requestId: string | null): Promise<Row>
  stop(): Promise<void>
}

/**
 * The upstream behind a gateway whose only guard is the keyword guard: as the server `tools`, and as
 * `unset`, whose secret is not to be had.
 */
export async function startGuardedMcp(): Promise<GuardedMcp> {
  const upstream = startMcpUpstream()
  const server = (server_key: string, more = {}) => ({
    server_key,
    display_name: server_key,
    server_url: upstream.url,
    allow_private: true,
    ...more,
  })
  const gateway = await startTestGateway({
    plugins: [
      ...Object.keys(builtins)
        .filter((name) => name !== 'guardrails')
        .map((name) => ({ use: `builtin:${name}` })),
      { use: guard },
    ],
    mcp: {
      allow_private_networks: true,
      servers: [
        server('tools'),
        server('unset', {
          auth_mode: 'gateway_bearer_token',
          auth_config: { secret_ref: 'env/GATEWAY_MCP_SECRET_THAT_IS_NOT_SET' },
        }),
      ],
    },
  })
  const mcp: GuardedMcp = {
    upstream,
    gateway,
    reset() {
      upstream.script = undefined
      upstream.seen.length = 0
      inspected.length = 0
    },
    async send(body, { server = 'tools', session, headers = {} } = {}) {
      const reply = await fetch(`${gateway.url}/mcp/${server}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${adaKey}`,
          accept: 'application/json, text/event-stream',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(session !== undefined && { 'mcp-session-id': session }),
          ...headers,
        },
        ...(body !== undefined && {
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      })
      const id = reply.headers.get('x-request-id')
      return { status: reply.status, text: await reply.text(), id }
    },
    async session() {
      const id = crypto.randomUUID()
      upstream.script = ({ text }) =>
        Response.json(fine(idOf(text)), { headers: { 'mcp-session-id': id } })
      await mcp.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} })
      return id
    },
    row: (requestId) =>
      eventually(async () => {
        const [found] = await gateway.sql`
          select i.*, p.arguments_json -> 'body' as arguments,
            p.arguments_json ->> 'body' as arguments_text, p.result_json::text as result
          from mcp_audit.mcp_tool_invocations i
          left join mcp_audit.mcp_tool_invocation_payloads p on p.invocation_id = i.id
          where request_id = ${requestId} and status <> 'started'`
        return found
      }),
    async stop() {
      await gateway.stop()
      await upstream.stop()
    },
  }
  return mcp
}
