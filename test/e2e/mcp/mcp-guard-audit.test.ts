import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eventually } from '../../harness/gateway.ts'
import { type GuardedMcp, startGuardedMcp } from './mcp-guard.fixture.ts'
import { event, events, fine, toolCall } from './mcp-upstream.fixture.ts'

let mcp: GuardedMcp

beforeAll(async () => {
  mcp = await startGuardedMcp()
})
afterAll(() => mcp?.stop())
beforeEach(() => mcp.reset())

describe('what is kept of arguments', () => {
  test('is nothing of those that were denied', async () => {
    const { id } = await mcp.send(toolCall(1, 'echo', { message: 'FORBIDDEN private words' }))
    expect((await mcp.row(id))?.arguments).toEqual({
      guardrail_denied: true,
      decision_id: 'decision-1',
    })
  })

  test('is what went to the server, masked where it was masked', async () => {
    const masked = await mcp.send(toolCall(1, 'echo', { message: 'my SECRET' }))
    expect((await mcp.row(masked.id))?.arguments).toEqual({ message: 'my MASKED' })
    const plain = await mcp.send(toolCall(1, 'echo', { message: 'hello' }))
    expect((await mcp.row(plain.id))?.arguments).toEqual({ message: 'hello' })
  })

  test('is nothing when the guard fails', async () => {
    const { id } = await mcp.send(toolCall(1, 'echo', { message: 'BROKEN' }))
    expect((await mcp.row(id))?.arguments).toBeNull()
  })
})

test.each([
  ['its result', [event(fine(1), '2') + event(fine(1))]],
  ['no result', []],
])('the bytes of a call are all that its caller is given, with %s', async (_, last) => {
  const progress = event({ jsonrpc: '2.0', method: 'notifications/progress', params: {} }, '1')
  mcp.upstream.script = () => events([progress, progress, ...last])
  const { text, id } = await mcp.send(toolCall())
  expect(text).toStartWith(progress + progress)
  expect(Number((await mcp.row(id))?.response_bytes)).toBe(Buffer.byteLength(text))
})

test('the verdict stays when the result comes on a later stream, and so do the arguments', async () => {
  const id = await mcp.session()
  mcp.upstream.script = () => events(['id: 1\ndata:\n\n'])
  const called = await mcp.send(toolCall(21, 'echo', { message: 'my SECRET' }), { session: id })
  mcp.upstream.script = () => events([event(fine(21), '2')])
  await mcp.send(undefined, { session: id })
  const found = await mcp.row(called.id)
  expect(found).toMatchObject({
    status: 'success',
    policy_result: 'allowed',
    arguments: { message: 'my MASKED' },
  })
  expect(Number(found?.response_bytes)).toBeGreaterThan(50)
})

test.each([
  ['that may pass', 'hello', { status: 'success', policy_result: 'allowed' }],
  ['that is denied', 'so FORBIDDEN', { status: 'policy_denied', policy_result: 'denied' }],
])('the result of one call, on the stream of another, %s', async (_, text, outcome) => {
  const session = await mcp.session()
  mcp.upstream.script = () => events(['id: 1\ndata:\n\n'])
  const first = await mcp.send(toolCall(23), { session })
  mcp.upstream.script = () => events([event(fine(23, text)), event(fine(24, 'and all is well'))])
  const second = await mcp.send(toolCall(24), { session })
  expect(second.status).toBe(200)
  expect(second.text).toContain('"id":23')
  expect(second.text).not.toContain('FORBIDDEN')
  expect(second.text).toContain('and all is well')
  expect(await mcp.row(first.id)).toMatchObject(outcome)
  expect(await mcp.row(second.id)).toMatchObject({ status: 'success', policy_result: 'allowed' })
})

test('the verdict stays when the call is cancelled', async () => {
  const id = await mcp.session()
  mcp.upstream.script = ({ text }) =>
    text.includes('cancelled')
      ? new Response(null, { status: 202 })
      : events([': wait\n\n', 500, event(fine(22))])
  const calling = mcp.send(toolCall(22), { session: id })
  await eventually(async () =>
    mcp.upstream.seen.at(-1)?.text.includes('"id":22') ? true : undefined,
  )
  const params = { requestId: 22 }
  await mcp.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, { session: id })
  const called = await calling
  expect(await mcp.row(called.id)).toMatchObject({ status: 'cancelled', policy_result: 'allowed' })
})

/** What a server sends as JSON, or as an event. */
const shapes: readonly [string, (message: unknown) => Response][] = [
  ['JSON', (message) => Response.json(message)],
  ['an event', (message) => events([event(message)])],
]

describe.each(shapes)('as %s', (_, reply) => {
  test.each(['tasks/result', 'tasks/get'])('what %s brings is judged', async (method) => {
    mcp.upstream.script = () => reply(fine(5, 'so FORBIDDEN'))
    const denied = await mcp.send({ jsonrpc: '2.0', id: 5, method, params: { taskId: 't' } })
    expect(denied.text).not.toContain('so FORBIDDEN')
    expect(denied.text).toContain('"code":"guardrail_denied"')
    mcp.upstream.script = () => reply(fine(5, 'all is well'))
    const passed = await mcp.send({ jsonrpc: '2.0', id: 5, method, params: { taskId: 't' } })
    expect(passed.text).toContain('all is well')
  })

  test.each([
    ['a name', { 'FORBIDDEN name': 1 }],
    ['a number', { card: 'FORBIDDEN', number: 4_111_111_111_111 }],
  ])('%s of a result is judged', async (__, structuredContent) => {
    const result = { content: [], structuredContent }
    mcp.upstream.script = () => reply({ jsonrpc: '2.0', id: 1, result })
    expect((await mcp.send(toolCall())).status).toBe(403)
  })

  test('a list of tools leaves its size', async () => {
    const tools = [{ name: 'a', description: 'FORBIDDEN', inputSchema: { type: 'object' } }]
    mcp.upstream.script = () => reply({ jsonrpc: '2.0', id: 1, result: { tools } })
    const { status, id } = await mcp.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect(status).toBe(200)
    const [found] = await eventually(async () => {
      const rows = await mcp.gateway.sql`
        select tool_count from mcp_audit.request_mcp_token_overheads where request_id = ${id}`
      return rows.length > 0 ? rows : undefined
    })
    expect(found?.tool_count).toBe(1)
  })
})
