import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { builtins } from '../../plugins/standard/builtins.ts'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../harness/gateway.ts'
import { inspected } from './__fixtures__/keyword-guard.ts'
import {
  event,
  events,
  fine,
  idOf,
  type McpUpstream,
  startMcpUpstream,
  toolCall,
} from './mcp-upstream.fixture.ts'

const fixture = new URL('./__fixtures__/keyword-guard.ts', import.meta.url).pathname

let upstream: McpUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = startMcpUpstream()
  gateway = await startTestGateway({
    plugins: [
      ...Object.keys(builtins)
        .filter((name) => name !== 'guardrails')
        .map((name) => ({ use: `builtin:${name}` })),
      { use: fixture },
    ],
    mcp: {
      allow_private_networks: true,
      servers: [{ server_key: 'tools', display_name: 'Tools', server_url: upstream.url }],
    },
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})
beforeEach(() => {
  upstream.script = undefined
  inspected.length = 0
})

async function send(body: unknown, session?: string) {
  const reply = await fetch(`${gateway.url}/mcp/tools`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${adaKey}`,
      'content-type': 'application/json',
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: reply.status, text: await reply.text(), id: reply.headers.get('x-request-id') }
}

const row = (id: string | null) =>
  eventually(async () => {
    const [found] = await gateway.sql`
      select i.*, p.arguments_json -> 'body' as arguments from mcp_audit.mcp_tool_invocations i
      left join mcp_audit.mcp_tool_invocation_payloads p on p.invocation_id = i.id
      where request_id = ${id} and status <> 'started'`
    return found
  })

async function session(): Promise<string> {
  const id = crypto.randomUUID()
  upstream.script = ({ text }) =>
    Response.json(fine(idOf(text)), { headers: { 'mcp-session-id': id } })
  await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} })
  return id
}

describe('what is kept of arguments', () => {
  test('is nothing of those that were denied', async () => {
    const { id } = await send(toolCall(1, 'echo', { message: 'FORBIDDEN private words' }))
    expect((await row(id))?.arguments).toEqual({
      guardrail_denied: true,
      decision_id: 'decision-1',
    })
  })

  test('is what went to the server, masked where it was masked', async () => {
    const masked = await send(toolCall(1, 'echo', { message: 'my SECRET' }))
    expect((await row(masked.id))?.arguments).toEqual({ message: 'my MASKED' })
    const plain = await send(toolCall(1, 'echo', { message: 'hello' }))
    expect((await row(plain.id))?.arguments).toEqual({ message: 'hello' })
  })

  test('is nothing when the guard fails', async () => {
    const { id } = await send(toolCall(1, 'echo', { message: 'BROKEN' }))
    expect((await row(id))?.arguments).toBeNull()
  })
})

test('the verdict stays when the result comes on a later stream, and so do the arguments', async () => {
  const id = await session()
  upstream.script = () => events(['id: 1\ndata:\n\n'])
  const called = await send(toolCall(21, 'echo', { message: 'my SECRET' }), id)
  upstream.script = () => events([event(fine(21), '2')])
  await send(undefined, id)
  const found = await row(called.id)
  expect(found).toMatchObject({
    status: 'success',
    policy_result: 'allowed',
    arguments: { message: 'my MASKED' },
  })
  expect(Number(found?.response_bytes)).toBeGreaterThan(50)
})

test('the verdict stays when the call is cancelled', async () => {
  const id = await session()
  upstream.script = ({ text }) =>
    text.includes('cancelled')
      ? new Response(null, { status: 202 })
      : events([': wait\n\n', 500, event(fine(22))])
  const calling = send(toolCall(22), id)
  await eventually(async () => (upstream.seen.at(-1)?.text.includes('"id":22') ? true : undefined))
  const params = { requestId: 22 }
  await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, id)
  const called = await calling
  expect(await row(called.id)).toMatchObject({ status: 'cancelled', policy_result: 'allowed' })
})

/** What a server sends as JSON, or as an event. */
const shapes: readonly [string, (message: unknown) => Response][] = [
  ['JSON', (message) => Response.json(message)],
  ['an event', (message) => events([event(message)])],
]

describe.each(shapes)('as %s', (_, reply) => {
  test.each(['tasks/result', 'tasks/get'])('what %s brings is judged', async (method) => {
    upstream.script = () => reply(fine(5, 'so FORBIDDEN'))
    const denied = await send({ jsonrpc: '2.0', id: 5, method, params: { taskId: 't' } })
    expect(denied.text).not.toContain('so FORBIDDEN')
    expect(denied.text).toContain('"code":"guardrail_denied"')
    upstream.script = () => reply(fine(5, 'all is well'))
    const passed = await send({ jsonrpc: '2.0', id: 5, method, params: { taskId: 't' } })
    expect(passed.text).toContain('all is well')
  })

  test.each([
    ['a name', { 'FORBIDDEN name': 1 }],
    ['a number', { card: 'FORBIDDEN', number: 4_111_111_111_111 }],
  ])('%s of a result is judged', async (__, structuredContent) => {
    const result = { content: [], structuredContent }
    upstream.script = () => reply({ jsonrpc: '2.0', id: 1, result })
    expect((await send(toolCall())).status).toBe(403)
  })

  test('a list of tools leaves its size', async () => {
    const tools = [{ name: 'a', description: 'FORBIDDEN', inputSchema: { type: 'object' } }]
    upstream.script = () => reply({ jsonrpc: '2.0', id: 1, result: { tools } })
    const { status, id } = await send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect(status).toBe(200)
    const [found] = await eventually(async () => {
      const rows = await gateway.sql`
        select tool_count from mcp_audit.request_mcp_token_overheads where request_id = ${id}`
      return rows.length > 0 ? rows : undefined
    })
    expect(found?.tool_count).toBe(1)
  })
})
