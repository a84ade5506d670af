import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  Client as BothClient,
  StreamableHTTPClientTransport as BothTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import {
  startEverythingServer,
  startModernServer,
  type TestMcpServer,
} from '../../harness/mcp-servers.ts'
import { startConformanceServer } from './__fixtures__/conformance-server.ts'

let everything: TestMcpServer
let modern: TestMcpServer
let resumable: TestMcpServer
let gateway: TestGateway
let replica: TestGateway
let admin: AdminClient
const clients: Client[] = []

beforeAll(async () => {
  everything = await startEverythingServer()
  modern = startModernServer()
  resumable = startConformanceServer()
  const config = {
    mcp: {
      allow_private_networks: true,
      servers: [
        { server_key: 'modern', display_name: 'Modern', server_url: modern.url },
        { server_key: 'resumable', display_name: 'Resumable', server_url: resumable.url },
      ],
    },
  }
  gateway = await startTestGateway(config)
  admin = await adminClient(gateway)
  const { server } = await admin.post<{ server: { mcp_server_id: string } }>(
    '/api/v1/admin/mcp/servers',
    { server_key: 'everything', display_name: 'Everything', server_url: everything.url },
  )
  await admin.post(`/api/v1/admin/mcp/servers/${server.mcp_server_id}/discovery-refresh`)
  replica = await startTestGateway(config, { databaseUrl: gateway.databaseUrl })
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
})
afterAll(async () => {
  await replica?.stop()
  await gateway?.stop()
  await everything?.stop()
  await modern?.stop()
  await resumable?.stop()
})

interface Row {
  readonly status: string
  readonly tool_name: string
  readonly tool_id: string | null
  readonly request_id: string
  readonly user_id: string | null
  readonly jsonrpc_id: string
  readonly jsonrpc_id_type: string
  readonly session_hash: string | null
  readonly policy_result: string
  readonly protocol_version: string | null
  readonly response_bytes: string | null
  readonly latency_ms: number | null
}

/** The rows of a session's calls, when none of them is open any more. */
const rows = (count: number, key: string): Promise<readonly Row[]> =>
  eventually(async () => {
    const found = await gateway.sql<Row[]>`
      select i.*, i.argument_metadata from mcp_audit.mcp_tool_invocations i
      where api_key_id in (select id::text from identity.api_keys) and tool_name = ${key}
      order by id`
    const done = found.filter(({ status }) => status !== 'started')
    return done.length >= count && done.length === found.length ? found : undefined
  })

async function connect(to: TestGateway, capabilities = {}, server = 'everything') {
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  const transport = new StreamableHTTPClientTransport(new URL(`${to.url}/mcp/${server}`), {
    requestInit: { headers: { authorization: `Bearer ${adaKey}` } },
  })
  clients.push(client)
  return { client, transport }
}

describe('the server with everything in it, by the official client', () => {
  test('lists and calls tools; each call has its row', async () => {
    const { client, transport } = await connect(gateway)
    await client.connect(transport as Parameters<Client['connect']>[0])
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('echo')
    const result = await client.callTool({ name: 'echo', arguments: { message: 'hello' } })
    expect(result.content).toEqual([{ type: 'text', text: 'Echo: hello' }])
    const [row] = await rows(1, 'echo')
    expect(row).toMatchObject({
      status: 'success',
      tool_name: 'echo',
      policy_result: 'not_evaluated',
      jsonrpc_id_type: 'number',
    })
    expect(row?.tool_id).not.toBeNull()
    expect(row?.session_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(Number(row?.response_bytes)).toBeGreaterThan(50)
    const [overhead] = await eventually(async () => {
      const found = await gateway.sql`
        select tool_count, token_count, source from mcp_audit.request_mcp_token_overheads`
      return found.length > 0 ? found : undefined
    })
    expect(overhead).toMatchObject({ tool_count: tools.length, source: 'estimate' })
  })

  test('reports progress while a tool runs', async () => {
    const { client, transport } = await connect(gateway)
    await client.connect(transport as Parameters<Client['connect']>[0])
    const progress: number[] = []
    await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.5, steps: 4 } },
      undefined,
      { onprogress: ({ progress: at }) => progress.push(at) },
    )
    expect(progress).toEqual([1, 2, 3, 4])
  })

  test('lets a tool sample and elicit', async () => {
    const { client, transport } = await connect(gateway, { sampling: {}, elicitation: {} })
    client.setRequestHandler(CreateMessageRequestSchema, async () => ({
      model: 'm',
      role: 'assistant',
      content: { type: 'text', text: 'sampled words' },
    }))
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'decline' }))
    await client.connect(transport as Parameters<Client['connect']>[0])
    await eventually(async () => {
      const { tools } = await client.listTools()
      return tools.some(({ name }) => name === 'trigger-sampling-request') ? true : undefined
    })
    const sampled = await client.callTool({
      name: 'trigger-sampling-request',
      arguments: { prompt: 'p', maxTokens: 10 },
    })
    expect(JSON.stringify(sampled.content)).toContain('sampled words')
    const elicited = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} })
    expect(JSON.stringify(elicited.content)).toContain('declined')
  })

  test('a call that is given up is cancelled', async () => {
    const { client, transport } = await connect(gateway)
    await client.connect(transport as Parameters<Client['connect']>[0])
    const abort = new AbortController()
    const call = client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 5, steps: 50 } },
      undefined,
      { signal: abort.signal, onprogress: () => abort.abort('enough') },
    )
    await expect(call).rejects.toThrow()
    const found = await rows(2, 'trigger-long-running-operation')
    expect(found.map(({ status }) => status)).toEqual(['success', 'cancelled'])
  })

  test('a session goes on at another replica, and ends', async () => {
    const first = await connect(gateway)
    await first.client.connect(first.transport as Parameters<Client['connect']>[0])
    const sessionId = first.transport.sessionId as string
    const headers = {
      authorization: `Bearer ${adaKey}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-session-id': sessionId,
      'mcp-protocol-version': '2025-11-25',
    }
    const call = (to: TestGateway) =>
      fetch(`${to.url}/mcp/everything`, {
        method: 'POST',
        headers,
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 'other',
          method: 'tools/call',
          params: { name: 'get-sum', arguments: { a: 2, b: 3 } },
        }),
      })
    const there = await call(replica)
    expect(there.status).toBe(200)
    expect(await there.text()).toContain('5')
    await first.transport.terminateSession()
    const after = await eventually(async () => {
      const reply = await call(replica)
      return reply.status === 404 ? reply : undefined
    })
    expect(await after.json()).toMatchObject({ jsonrpc: '2.0', id: 'other' })
    const found = await rows(2, 'get-sum')
    expect(found[0]).toMatchObject({
      status: 'success',
      jsonrpc_id: 'other',
      jsonrpc_id_type: 'string',
    })
  })
})

describe('the client of both eras', () => {
  const open = async (server: string, mode: 'legacy' | 'auto' | { pin: string }) => {
    const client = new BothClient({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(
      new BothTransport(new URL(`${gateway.url}/mcp/${server}`), {
        requestInit: { headers: { authorization: `Bearer ${adaKey}` } },
      }),
    )
    return client
  }

  test('calls a server without sessions', async () => {
    const client = await open('modern', { pin: '2026-07-28' })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['add'])
    const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })
    expect(result.content).toEqual([{ type: 'text', text: '3' }])
    await client.close()
    const [row] = await rows(1, 'add')
    expect(row).toMatchObject({
      status: 'success',
      session_hash: null,
      protocol_version: '2026-07-28',
    })
  })

  test.each(['legacy', 'auto'] as const)('calls a server with sessions, mode %s', async (mode) => {
    const client = await open('everything', mode)
    const result = await client.callTool({ name: 'get-env', arguments: {} })
    expect(result.isError).not.toBe(true)
    await client.close()
  })
})

describe('a server whose streams can be resumed', () => {
  test('ends a stream in a call; the client has its result on another one', async () => {
    const { client, transport } = await connect(gateway, {}, 'resumable')
    await client.connect(transport as Parameters<Client['connect']>[0])
    const result = await client.callTool({ name: 'test_reconnection', arguments: {} })
    expect(JSON.stringify(result.content)).toContain('Reconnected.')
    const found = await rows(1, 'test_reconnection')
    expect(found.map(({ status }) => status)).toEqual(['success'])
  })

  test('a call whose connection breaks is resumed at another replica, and has one row', async () => {
    const name = 'test_tool_with_logging'
    const before = (await rows(0, name)).length
    const first = await connect(gateway, {}, 'resumable')
    await first.client.connect(first.transport as Parameters<Client['connect']>[0])
    const { sessionId } = first.transport
    let token: string | undefined
    const params = { name, arguments: {} }
    const broken = first.client.callTool(params, undefined, {
      onprogress() {},
      onresumptiontoken: (given) => {
        token = given
      },
    })
    broken.catch(() => {})
    await eventually(async () => token)
    await first.client.close()

    const second = new Client({ name: 'test', version: '1' })
    clients.push(second)
    const transport = new StreamableHTTPClientTransport(new URL(`${replica.url}/mcp/resumable`), {
      ...(sessionId !== undefined && { sessionId }),
      requestInit: { headers: { authorization: `Bearer ${adaKey}` } },
    })
    await second.connect(transport as Parameters<Client['connect']>[0])
    const result = await second.callTool(params, undefined, {
      ...(token !== undefined && { resumptionToken: token }),
    })
    expect(JSON.stringify(result.content)).toContain('Logged.')
    const found = await rows(before + 1, name)
    expect(found).toHaveLength(before + 1)
    expect(found.at(-1)?.status).toBe('success')
  })
})
