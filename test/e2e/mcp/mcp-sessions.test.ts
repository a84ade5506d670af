import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { adminClient } from '../../harness/admin.ts'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { bobKey, CANARY, type McpBench, startMcpBench } from './mcp-bench.fixture.ts'
import {
  toolCall as call,
  event,
  events,
  fine,
  idOf,
  type McpUpstream,
} from './mcp-upstream.fixture.ts'

let bench: McpBench
let gateway: TestGateway
let upstream: McpUpstream
const send: McpBench['send'] = (...ask) => bench.send(...ask)
const rowOf: McpBench['rowOf'] = (reply) => bench.rowOf(reply)

beforeAll(async () => {
  bench = await startMcpBench()
  ;({ gateway, upstream } = bench)
})
afterAll(() => bench?.stop())
beforeEach(() => {
  upstream.script = undefined
  upstream.seen.length = 0
})

describe('sessions', () => {
  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} }
  const begin = async (id: string, key = adaKey) => {
    upstream.script = ({ text }) =>
      Response.json(fine(idOf(text)), { headers: { 'mcp-session-id': id } })
    const reply = await send('tools', { body: initialize, key })
    upstream.script = undefined
    upstream.seen.length = 0
    return reply
  }

  test('belong to those who began them', async () => {
    const id = crypto.randomUUID()
    expect((await begin(id)).headers.get('mcp-session-id')).toBe(id)
    const headers = { 'mcp-session-id': id }
    expect((await send('tools', { body: call(), headers })).status).toBe(200)
    for (const method of ['POST', 'GET', 'DELETE']) {
      const body = method === 'POST' ? call() : undefined
      const reply = await send('tools', { method, body, headers, key: bobKey })
      expect(reply.status).toBe(404)
      if (method === 'POST') {
        expect(await reply.json()).toMatchObject({ id: 1, error: { code: -32001 } })
        expect((await rowOf(reply))?.status).toBe('unauthorized')
      }
    }
    const elsewhere = await send('slow', { body: call(), headers })
    expect(elsewhere.status).toBe(404)
    expect(upstream.seen).toHaveLength(1)
  })

  test('with an unknown id, or the id of another caller, is refused', async () => {
    const headers = { 'mcp-session-id': 'made-up' }
    expect((await send('tools', { body: call(), headers })).status).toBe(404)
    const id = crypto.randomUUID()
    await begin(id)
    expect((await begin(id, bobKey)).status).toBe(502)
    expect((await send('tools', { body: call(), headers: { 'mcp-session-id': id } })).status).toBe(
      200,
    )
  })

  test('without an id are not sessions, so they have no owner', async () => {
    for (const key of [adaKey, bobKey]) {
      expect((await begin('', key)).status).toBe(200)
      const headers = { 'mcp-session-id': '' }
      expect((await send('tools', { body: call(), headers, key })).status).toBe(200)
    }
  })

  test('outlive a stream that their server does not have, as they do without a gateway', async () => {
    const id = crypto.randomUUID()
    await begin(id)
    const headers = { 'mcp-session-id': id }
    upstream.script = ({ method }) =>
      new Response('Cannot GET /mcp', { status: method === 'GET' ? 404 : 202 })
    expect((await send('tools', { method: 'GET', headers })).status).toBe(404)
    expect((await send('tools', { body: call(), headers })).status).toBe(202)
    upstream.script = () => new Response('{}', { status: 404 })
    expect((await send('tools', { body: call(), headers })).status).toBe(404)
    upstream.script = undefined
    await eventually(async () =>
      (await send('tools', { body: call(), headers })).status === 404 ? true : undefined,
    )
  })

  test('a result that comes on a later stream closes the row', async () => {
    const id = crypto.randomUUID()
    await begin(id)
    const headers = { 'mcp-session-id': id }
    upstream.script = () => events(['id: 1\ndata:\n\n'])
    const first = await send('tools', { body: call(77), headers })
    expect(await first.text()).toBe('id: 1\ndata:\n\n')
    upstream.script = () => events([event(fine(77), '2')])
    const second = await send('tools', {
      method: 'GET',
      headers: { ...headers, 'last-event-id': '1' },
    })
    expect(await second.text()).toContain('fine')
    expect((await rowOf(first))?.status).toBe('success')
  })

  test('the end of a session is the end of the calls whose results were still to come', async () => {
    const id = crypto.randomUUID()
    await begin(id)
    const headers = { 'mcp-session-id': id }
    upstream.script = () => events(['id: 1\ndata:\n\n'])
    const left = await send('tools', { body: call(79), headers })
    await left.text()
    upstream.script = undefined
    await send('tools', { method: 'DELETE', headers })
    expect(await rowOf(left)).toMatchObject({
      status: 'incomplete',
      latency_ms: expect.any(Number),
    })
  })

  test.each([
    ['accepts the call', () => new Response(null, { status: 202 })],
    ['ends a stream without ids', () => events([': nothing\n\n'])],
  ])('a result comes on a later stream, too, when the server %s', async (_, reply) => {
    const id = crypto.randomUUID()
    await begin(id)
    const headers = { 'mcp-session-id': id }
    upstream.script = reply
    const first = await send('tools', { body: call(78), headers })
    await first.text()
    upstream.script = () => events([event(fine(78))])
    await (await send('tools', { method: 'GET', headers })).text()
    const row = await rowOf(first)
    expect(row?.status).toBe('success')
    expect(Number(row?.response_bytes)).toBeGreaterThan(50)
  })

  test('a result that a replica passes on as it ends is written down', async () => {
    const id = crypto.randomUUID()
    await begin(id)
    const headers = { 'mcp-session-id': id }
    const config = { mcp: { allow_private_networks: true } }
    const replica = await startTestGateway(config, { databaseUrl: gateway.databaseUrl })
    upstream.script = ({ method }) =>
      method === 'GET' ? events([event(fine(80))]) : new Response(null, { status: 202 })
    const first = await send('tools', { body: call(80), headers })
    // Before the database has the row.
    const authorization = `Bearer ${adaKey}`
    const later = await fetch(`${replica.url}/mcp/tools`, {
      headers: { ...headers, authorization },
    })
    expect(await later.text()).toContain('fine')
    await replica.stop()
    expect((await rowOf(first)).status).toBe('success')
  })

  test('a call is over with its result: a cancellation that comes after it changes nothing', async () => {
    const id = crypto.randomUUID()
    await begin(id)
    const headers = { 'mcp-session-id': id }
    // So long that the database has the row before it is over.
    upstream.script = () => events([200, event(fine(81))])
    const called = await send('tools', { body: call(81), headers })
    expect(await called.text()).toContain('fine')
    upstream.script = () => new Response(null, { status: 202 })
    const params = { requestId: 81 }
    const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params }
    expect((await send('tools', { body, headers })).status).toBe(202)
    expect((await rowOf(called)).status).toBe('success')
  })
})

describe('secrets', () => {
  test('of the gateway are sent to the server and appear nowhere else', async () => {
    const body = `{"error":"Bearer ${CANARY}-upstream-token is wrong; plain ${CANARY}-upstream-token"}`
    upstream.script = () => new Response(body, { status: 500 })
    const reply = await send('secret', { body: call() })
    expect(upstream.seen[0]?.headers.get('authorization')).toBe(`Bearer ${CANARY}-upstream-token`)
    expect(reply.status).toBe(500)
    expect(await reply.text()).not.toContain(CANARY)

    upstream.script = ({ text }) =>
      Response.json(fine(idOf(text), `plain ${CANARY}-upstream-token`))
    const echoed = await send('secret', {
      body: call(1, 'echo', { password: `${CANARY}-argument`, note: `key ${adaKey}` }),
    })
    await rowOf(reply)
    await rowOf(echoed)
    const rows = await gateway.sql`
      select i::text as row, p::text as payload from mcp_audit.mcp_tool_invocations i
      left join mcp_audit.mcp_tool_invocation_payloads p on p.invocation_id = i.id`
    const kept = JSON.stringify([rows, gateway.logs])
    expect(kept).toContain('password')
    expect(kept).not.toContain(CANARY)
    expect(kept).not.toContain(adaKey)
  })
})

test('a secret that JSON writes in another way is known in JSON, too', async () => {
  const name = 'GATEWAY_MCP_SECRET_CANARY'
  const usual = process.env[name]
  const secret = `${CANARY}-"with\\marks`
  process.env[name] = secret
  try {
    const body = JSON.stringify({ error: `the token ${secret} is wrong` })
    upstream.script = () => new Response(body, { status: 400 })
    const refused = await send('secret', { body: call() })
    expect(await refused.text()).toBe('{"error":"the token [redacted] is wrong"}')
    upstream.script = ({ text }) => Response.json(fine(idOf(text), `the token ${secret}`))
    const { id } = (await rowOf(await send('secret', { body: call() }))) as { id: string }
    const [kept] = await gateway.sql`
      select result_json from mcp_audit.mcp_tool_invocation_payloads where invocation_id = ${id}`
    expect(kept?.result_json).toBeNull()
  } finally {
    process.env[name] = usual
  }
})

test('an invalid status of the server becomes 502', async () => {
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        socket.end(
          'HTTP/1.1 999 No\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
        )
      },
    },
  })
  try {
    const admin = await adminClient(gateway)
    await admin.post('/api/v1/admin/mcp/servers', {
      server_key: 'odd',
      display_name: 'Odd',
      server_url: `http://127.0.0.1:${server.port}/mcp`,
    })
    const reply = await send('odd', { body: call(7) })
    expect(reply.status).toBe(502)
    expect(await reply.json()).toMatchObject({ id: 7, error: { data: { upstream_status: 999 } } })
    expect((await rowOf(reply))?.status).toBe('upstream_error')
  } finally {
    server.stop(true)
  }
})

describe('what an admin sees', () => {
  test('the calls with their filters, and one of them with its payload', async () => {
    const reply = await send('tools', { body: call('look', 'echo', { message: 'see me' }) })
    const id = reply.headers.get('x-request-id') ?? ''
    await rowOf(id)
    const admin = await adminClient(gateway)
    const root = '/api/v1/admin/observability/mcp-invocations'
    const { items } = await admin.get<{ items: Record<string, unknown>[] }>(
      `${root}?request_id=${id}&status=success&server_key=tools&tool_name=echo&policy_result=not_evaluated&occurred_at_start=2026-01-01T00:00:00Z`,
    )
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({
      jsonrpc_id: 'look',
      owner_kind: 'user',
      owner_name: 'Ada',
      argument_metadata: { names: ['message'] },
    })
    const [keyId, userId] = [items[0]?.api_key_id, items[0]?.user_id].map(String)
    const capitals = `api_key_id=${keyId?.toUpperCase()}&user_id=${userId?.toUpperCase()}`
    expect(await admin.get(`${root}?request_id=${id}&${capitals}`)).toMatchObject({ total: 1 })
    const detail = await eventually(async () => {
      const found = await admin.get<{ payload: unknown }>(
        `${root}/${items[0]?.mcp_tool_invocation_id}`,
      )
      return found.payload === null ? undefined : found
    })
    expect(detail.payload).toEqual({
      arguments: { message: 'see me' },
      arguments_truncated: false,
      result: { content: [{ type: 'text', text: 'fine' }] },
      result_truncated: false,
    })
    const read = `action=mcp_invocation.payload_read&object_id=${items[0]?.mcp_tool_invocation_id}`
    const entries = await eventually(async () => {
      const { items } = await admin.get<{ items: object[] }>(`/api/v1/admin/audit-log?${read}`)
      return items.length > 0 ? items : undefined
    })
    expect(entries[0]).toMatchObject({ actor_email: admin.email, address: '127.0.0.1' })
    expect((await admin.get<{ total: number }>(`${root}?server_key=nope`)).total).toBe(0)
    expect(await admin.refused('GET', `${root}?status=odd`)).toMatchObject([
      400,
      'invalid_request',
      expect.any(String),
    ])
    expect((await admin.refused('GET', `${root}/${crypto.randomUUID()}`)).slice(0, 2)).toEqual([
      404,
      'not_found',
    ])
  })
})
