import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { inspected } from '../guardrails/__fixtures__/keyword-guard.ts'
import { type GuardedMcp, startGuardedMcp } from './mcp-guard.fixture.ts'
import {
  event,
  events,
  fine,
  type McpUpstream,
  startMcpUpstream,
  toolCall,
} from './mcp-upstream.fixture.ts'

/** To JavaScript these are one number. */
const ONE = JSON.rawJSON('9007199254740993')
const OTHER = JSON.rawJSON('9007199254740992')
const written = ({ rawJSON }: typeof ONE) => rawJSON

const answer = (id: unknown, text?: string) => ({ ...fine(0, text), id }) as ReturnType<typeof fine>

let guarded: GuardedMcp
let plain: TestGateway
let upstream: McpUpstream

beforeAll(async () => {
  guarded = await startGuardedMcp()
  upstream = startMcpUpstream()
  const server = { server_key: 'tools', display_name: 'tools', server_url: upstream.url }
  plain = await startTestGateway({
    mcp: { allow_private_networks: true, servers: [{ ...server, allow_private: true }] },
  })
})
afterAll(async () => {
  await guarded?.stop()
  await plain?.stop()
  await upstream?.stop()
})
beforeEach(() => guarded.reset())

/** A request to the server `tools` of a gateway, in the session `session`. */
async function send(gateway: TestGateway, session: string, body?: unknown) {
  const reply = await fetch(`${gateway.url}/mcp/tools`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${adaKey}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(session !== '' && { 'mcp-session-id': session }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { text: await reply.text(), id: reply.headers.get('x-request-id') }
}

async function rowOf(gateway: TestGateway, requestId: string | null, isOver = true) {
  return await eventually(async () => {
    const [row] = await gateway.sql`
      select jsonrpc_id, jsonrpc_id_type, status from mcp_audit.mcp_tool_invocations
      where request_id = ${requestId} and (status <> 'started' or ${!isOver})`
    return row
  })
}

describe.each([
  ['without a guard', () => ({ gateway: plain, server: upstream })],
  ['with a guard', () => ({ gateway: guarded.gateway, server: guarded.upstream })],
])('an id that JavaScript would round, %s', (_, use) => {
  /** Begins a session; its id. */
  async function session(): Promise<string> {
    const { gateway, server } = use()
    const id = crypto.randomUUID()
    server.script = () => Response.json(answer(0), { headers: { 'mcp-session-id': id } })
    await send(gateway, '', { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} })
    return id
  }

  test('is kept as it was written, and so is the one of the answer', async () => {
    const { gateway, server } = use()
    server.script = () => Response.json(answer(ONE))
    const { text, id } = await send(gateway, '', toolCall(ONE))
    expect(text).toBe(JSON.stringify(answer(ONE)))
    expect(await rowOf(gateway, id)).toEqual({
      jsonrpc_id: written(ONE),
      jsonrpc_id_type: 'number',
      status: 'success',
    })
    server.script = undefined
    const spelled = await send(gateway, '', toolCall(JSON.rawJSON('1.0')))
    expect((await rowOf(gateway, spelled.id)).jsonrpc_id).toBe('1.0')
  })

  test('is taken for no other one by an answer on a later stream', async () => {
    const { gateway, server } = use()
    const of = await session()
    server.script = () => new Response(null, { status: 202 })
    const first = await send(gateway, of, toolCall(ONE))
    const second = await send(gateway, of, toolCall(OTHER))
    server.script = () => events([event(answer(ONE))])
    await send(gateway, of)
    expect((await rowOf(gateway, first.id)).status).toBe('success')
    expect((await rowOf(gateway, second.id, false)).status).toBe('started')
  })

  test('is taken for no other one by an answer on the stream of another call', async () => {
    const { gateway, server } = use()
    const of = await session()
    server.script = () => new Response(null, { status: 202 })
    await send(gateway, of, toolCall(ONE))
    const failed = { jsonrpc: '2.0', id: OTHER, result: { content: [], isError: true } }
    server.script = () => events([event(answer(ONE)), event(failed)])
    const second = await send(gateway, of, toolCall(OTHER))
    expect((await rowOf(gateway, second.id)).status).toBe('tool_error')
  })

  test('is taken for no other one by a cancellation', async () => {
    const { gateway, server } = use()
    const of = await session()
    server.script = () => new Response(null, { status: 202 })
    const first = await send(gateway, of, toolCall(ONE))
    const second = await send(gateway, of, toolCall(OTHER))
    const params = { requestId: ONE }
    await send(gateway, of, { jsonrpc: '2.0', method: 'notifications/cancelled', params })
    expect((await rowOf(gateway, first.id)).status).toBe('cancelled')
    expect((await rowOf(gateway, second.id, false)).status).toBe('started')
  })
})

describe('an id that JavaScript would round has every digit', () => {
  test('in an error of the gateway', async () => {
    const { text } = await guarded.send(toolCall(ONE, 'echo', { message: 'FORBIDDEN' }))
    expect(text).toStartWith(`{"jsonrpc":"2.0","id":${written(ONE)},"error":`)
  })

  test.each([
    ['JSON', (message: unknown) => Response.json(message)],
    ['an event', (message: unknown) => events([event(message)])],
  ])('in a result that a guard has changed, as %s', async (_, reply) => {
    guarded.upstream.script = () => reply(answer(ONE, 'my SECRET'))
    const { text, id } = await guarded.send(toolCall(ONE))
    expect(text).toContain(JSON.stringify(answer(ONE, 'my MASKED')))
    expect((await guarded.row(id)).status).toBe('success')
  })

  test('as do all other numbers of a result, for the guard, the caller and the row', async () => {
    const structuredContent = { channel: JSON.rawJSON('1234567890123456789') }
    const said = (text: string) => ({
      ...fine(0),
      result: { content: [{ type: 'text', text }], structuredContent },
    })
    guarded.upstream.script = () => Response.json(said('my SECRET'))
    const { text, id } = await guarded.send(toolCall(0, 'echo', structuredContent))
    expect(text).toBe(JSON.stringify(said('my MASKED')))
    expect(JSON.stringify(inspected.at(-1))).toContain('1234567890123456789')
    const row = await guarded.row(id)
    expect(row.result).toContain('"channel":1234567890123456789')
    expect(row.arguments_text).toContain('1234567890123456789')
  })

  test('in the error that stands for an event', async () => {
    const session = await guarded.session()
    guarded.upstream.script = () => events([event(answer(ONE, 'so FORBIDDEN'))])
    const { text } = await guarded.send(undefined, { session })
    expect(text).toContain(`"id":${written(ONE)},"error":`)
  })
})
