import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eventually } from '../../harness/gateway.ts'
import { BUFFER_BYTES, inspected } from '../guardrails/__fixtures__/keyword-guard.ts'
import { type GuardedMcp, startGuardedMcp } from './mcp-guard.fixture.ts'
import { event, events, fine, toolCall } from './mcp-upstream.fixture.ts'

let mcp: GuardedMcp

beforeAll(async () => {
  mcp = await startGuardedMcp()
})
afterAll(() => mcp?.stop())
beforeEach(() => mcp.reset())

describe('a call', () => {
  test('that is denied reaches no server, and no secret is read for it', async () => {
    const denied = await mcp.send(toolCall(5, 'echo', { message: 'FORBIDDEN' }), {
      server: 'unset',
    })
    expect(denied.status).toBe(403)
    expect(JSON.parse(denied.text)).toMatchObject({
      jsonrpc: '2.0',
      id: 5,
      error: {
        message: 'denied by keyword',
        data: { code: 'guardrail_denied', decision_id: 'decision-1', reason_code: 'keyword' },
      },
    })
    expect(mcp.upstream.seen).toEqual([])
    const { id: _, ...found } = (await mcp.row(denied.id)) ?? {}
    expect(found).toMatchObject({
      status: 'policy_denied',
      policy_result: 'denied',
      guardrail_decision_id: 'decision-1',
    })
    // The same server without the word fails for want of its secret.
    expect((await mcp.send(toolCall(), { server: 'unset' })).status).toBe(500)
  })

  test('is judged as what it is', async () => {
    const { id } = await mcp.send(toolCall(1, 'echo', { message: 'hello' }))
    expect(inspected[0]).toMatchObject({
      phase: 'mcp_call',
      content: { kind: 'tool_calls', calls: [{ tool: 'echo', arguments: '{"message":"hello"}' }] },
      requestId: id,
      server: { key: 'tools' },
    })
    expect((await mcp.row(id))?.policy_result).toBe('allowed')
    expect(inspected.map(({ mcpInvocationId }) => mcpInvocationId)).toContain(
      (await mcp.row(id))?.id,
    )
  })

  test('that is masked goes on masked, and otherwise as it was', async () => {
    const call = toolCall(1, 'echo', { message: 'my SECRET' })
    await mcp.send(call)
    expect(mcp.upstream.seen[0]?.text).toBe(JSON.stringify(call).replace('SECRET', 'MASKED'))
  })

  test('is judged by what it says, however that is escaped', async () => {
    const text = JSON.stringify(toolCall(1, 'echo', { message: 'WORD' }))
    const escaped = (word: string) => text.replace('WORD', `\\u00${word}`)
    const denied = await mcp.send(escaped('46ORBIDDEN'))
    expect(denied.status).toBe(403)
    expect(mcp.upstream.seen).toEqual([])
    await mcp.send(escaped('53ECRET'))
    await mcp.send(escaped('53ERVANT'))
    const sent = mcp.upstream.seen.map((request) => request.text)
    expect(sent).toEqual([text.replace('WORD', 'MASKED'), escaped('53ERVANT')])
  })

  test('with two arguments that differ in case alone is refused by name', async () => {
    const { status, text } = await mcp.send(toolCall(1, 'echo', { message: 'a', Message: 'b' }))
    expect(status).toBe(400)
    expect(JSON.parse(text).error.message).toContain('Message occurs twice in the same object')
    expect(mcp.upstream.seen).toEqual([])
  })

  test('that is masked goes on masked in the headers that repeat its arguments', async () => {
    const channel = JSON.rawJSON('1234567890123456789')
    const args = { note: 'my SECRET', place: { name: 'SECRET ü', region: 'eu', floor: 3 }, channel }
    const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`
    const kept = {
      'mcp-param-region': 'eu',
      'mcp-param-floor': '3',
      'mcp-param-channel': channel.rawJSON,
      'mcp-name': 'echo',
    }
    const headers = {
      ...kept,
      'mcp-param-note': 'my SECRET',
      'mcp-param-name': base64('SECRET ü'),
      'mcp-param-other': 'SECRET of no argument',
    }
    expect((await mcp.send(toolCall(1, 'echo', args), { headers })).status).toBe(200)
    const seen = [...(mcp.upstream.seen[0]?.headers ?? [])]
    expect(Object.fromEntries(seen.filter(([name]) => /^mcp-(param|name)/.test(name)))).toEqual({
      ...kept,
      'mcp-param-note': 'my MASKED',
      'mcp-param-name': base64('MASKED ü'),
    })
    const plain = { note: 'nothing to mask' }
    await mcp.send(toolCall(1, 'echo', plain), { headers: { 'mcp-param-note': 'as it came' } })
    expect(mcp.upstream.seen[1]?.headers.get('mcp-param-note')).toBe('as it came')
  })

  test('of anything but a tool is not judged as one', async () => {
    await mcp.send({ jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: 'FORBIDDEN' } })
    expect(mcp.upstream.seen).toHaveLength(1)
    expect(inspected).toEqual([])
  })
})

/** The same words as a JSON reply and as an event stream, cut anywhere. */
const shapes: readonly [string, (message: unknown) => Response][] = [
  ['JSON', (message) => Response.json(message)],
  [
    'an event stream',
    (message) => {
      const text = event({ jsonrpc: '2.0', method: 'notifications/progress' }) + event(message, '1')
      return events(text.match(/[\s\S]{1,7}/g) ?? [])
    },
  ],
]

describe.each(shapes)('a result as %s', (_, reply) => {
  test('passes as it came when it is fine', async () => {
    const message = fine(1, 'hello')
    mcp.upstream.script = () => reply(message)
    const { status, text, id } = await mcp.send(toolCall())
    expect(status).toBe(200)
    mcp.upstream.script = undefined
    expect(text).toBe(await reply(message).text())
    expect(await mcp.row(id)).toMatchObject({ status: 'success', policy_result: 'allowed' })
  })

  test.each([
    ['in its text', fine(1, 'so FORBIDDEN')],
    [
      'in its structure',
      {
        jsonrpc: '2.0',
        id: 1,
        result: { content: [], structuredContent: { a: [{ data: 'FORBIDDEN' }] } },
      },
    ],
    [
      'in a link',
      {
        jsonrpc: '2.0',
        id: 1,
        result: { content: [{ type: 'resource_link', uri: 'x:FORBIDDEN' }] },
      },
    ],
    ['in a kind', { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'FORBIDDEN' }] } }],
    ['in an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'm', data: 'FORBIDDEN' } }],
    ['under an id that clients take for the same', fine('1', 'FORBIDDEN')],
  ])('is denied for what stands %s, and none of it comes', async (__, message) => {
    mcp.upstream.script = () => reply(message)
    const { status, text, id } = await mcp.send(toolCall())
    expect(status).toBe(403)
    expect(text).not.toContain('FORBIDDEN')
    expect(text).not.toContain('progress')
    const found = await mcp.row(id)
    expect(found).toMatchObject({ status: 'policy_denied', policy_result: 'denied', result: null })
  })

  test('comes masked when it is masked', async () => {
    mcp.upstream.script = () => reply(fine(1, 'a SECRET'))
    const { status, text, id } = await mcp.send(toolCall())
    expect(status).toBe(200)
    expect(text).toContain('a MASKED')
    expect(text).not.toContain('SECRET')
    const found = await mcp.row(id)
    expect(found?.status).toBe('success')
    expect(found?.result ?? '').not.toContain('SECRET')
  })

  test('that does not fit is refused', async () => {
    mcp.upstream.script = () => reply(fine(1, 'x'.repeat(BUFFER_BYTES)))
    const { status, text } = await mcp.send(toolCall())
    expect(status).toBe(413)
    expect(JSON.parse(text).error.data.code).toBe('guarded_response_too_large')
  })

  test('with a key that stands in it twice is refused', async () => {
    mcp.upstream.script = () => {
      const twice = '{"jsonrpc":"2.0","id":1,"result":{"content":[]},"result":{"content":[1]}}'
      return _ === 'JSON'
        ? new Response(twice, { headers: { 'content-type': 'application/json' } })
        : events([`data: ${twice}\n\n`])
    }
    expect((await mcp.send(toolCall())).status).toBe(502)
  })

  test('that some clients would find and others not is refused', async () => {
    const text =
      '{"jsonrpc":"2.0","id":1,"Result":{"content":[{"type":"text","text":"FORBIDDEN"}]}}'
    mcp.upstream.script = () =>
      _ === 'JSON'
        ? new Response(text, { headers: { 'content-type': 'application/json' } })
        : events([`data: ${text}\n\n`])
    const { status, text: told } = await mcp.send(toolCall())
    expect(status).toBe(502)
    expect(told).not.toContain('FORBIDDEN')
  })

  test('that nests too deep to be judged is refused', async () => {
    const deep = `${'['.repeat(400)}${']'.repeat(400)}`
    const text = `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"a":${deep}}}}`
    mcp.upstream.script = () =>
      _ === 'JSON'
        ? new Response(text, { headers: { 'content-type': 'application/json' } })
        : events([`data: ${text}\n\n`])
    expect((await mcp.send(toolCall())).status).toBe(502)
  })
})

test('what comes behind a result does not come', async () => {
  mcp.upstream.script = () => events([event(fine(1)) + event(fine(1, 'FORBIDDEN'))])
  const { status, text } = await mcp.send(toolCall())
  expect(status).toBe(200)
  expect(text).toBe(event(fine(1)))
})

test('a result that never ends becomes a 504, a JSON-RPC error', async () => {
  const dripping = Array.from({ length: 40 }, () => [': still here\n\n', 100]).flat()
  mcp.upstream.script = () => events(dripping)
  const begin = performance.now()
  const { status, text, id } = await mcp.send(toolCall(9))
  expect(status).toBe(504)
  expect(performance.now() - begin).toBeWithin(900, 2500)
  expect(JSON.parse(text)).toMatchObject({
    jsonrpc: '2.0',
    id: 9,
    error: { data: { type: 'guardrail_error', code: 'guardrail_timeout' } },
  })
  expect((await mcp.row(id))?.status).toBe('timeout')
  await eventually(async () => (mcp.upstream.seen[0]?.signal.aborted ? true : undefined))
})

test('an error body of the server is judged as well', async () => {
  mcp.upstream.script = () => new Response('so FORBIDDEN', { status: 400 })
  const { status, text } = await mcp.send(toolCall())
  expect(status).toBe(403)
  expect(text).not.toContain('so FORBIDDEN')
})

test('an error body is judged however it is escaped, and that of a task, too', async () => {
  const failure = (message: string) =>
    `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"${message}"}}`
  const task = { jsonrpc: '2.0', id: 1, method: 'tasks/result', params: { taskId: 't' } }
  for (const message of [toolCall(), task]) {
    const sent = async (text: string) => {
      mcp.upstream.script = () => new Response(failure(text), { status: 400 })
      return await mcp.send(message)
    }
    expect((await sent('\\u0046ORBIDDEN')).status).toBe(403)
    expect((await sent('my \\u0053ECRET')).text).toBe(failure('my MASKED'))
    expect((await sent('M\\u00fcller')).text).toBe(failure('M\\u00fcller'))
  }
})

describe('a later stream', () => {
  test('brings results only when they may pass', async () => {
    const id = await mcp.session()
    mcp.upstream.script = () => events(['id: 1\ndata:\n\n'])
    const calls = []
    for (const n of [11, 12, 13]) calls.push(await mcp.send(toolCall(n), { session: id }))
    const other = event({ jsonrpc: '2.0', method: 'notifications/message' })
    mcp.upstream.script = () =>
      events(
        (
          event(fine(11, 'good'), '2') +
          other +
          event(fine(12, 'so FORBIDDEN'), '3') +
          event(fine(13, 'a SECRET'), '4')
        ).match(/[\s\S]{1,9}/g) ?? [],
      )
    const { text } = await mcp.send(undefined, { session: id })
    expect(text).toStartWith(event(fine(11, 'good'), '2') + other)
    expect(text).not.toContain('FORBIDDEN')
    expect(text).not.toContain('SECRET')
    expect(text).toContain('a MASKED')
    expect(text).toContain('id: 3\nevent: message\ndata: {"jsonrpc":"2.0","id":12,"error"')
    const statuses = await Promise.all(calls.map(async (call) => (await mcp.row(call.id))?.status))
    expect(statuses).toEqual(['success', 'policy_denied', 'success'])
  })

  test.each([
    ['GET', undefined],
    ['subscriptions/listen', { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} }],
  ])('of %s brings the results of tasks only when they may pass', async (_, listen) => {
    const id = await mcp.session()
    const task = (text: string) => {
      const params = { taskId: 't', status: 'completed', result: fine(0, text).result }
      return event({ jsonrpc: '2.0', method: 'notifications/tasks', params })
    }
    mcp.upstream.script = () => events([task('good'), task('so FORBIDDEN') + task('a SECRET')])
    const { text } = await mcp.send(listen, { session: id })
    expect(text.trimStart()).toBe(task('good') + task('a MASKED'))
  })

  test('brings no result of a task that only some clients take for one', async () => {
    const id = await mcp.session()
    const methods = '"method":"notifications/tasks","method":"notifications/message"'
    const params = JSON.stringify({ taskId: 't', result: fine(0, 'so FORBIDDEN').result })
    mcp.upstream.script = () =>
      events([`data: {"jsonrpc":"2.0",${methods},"params":${params}}\n\n`])
    const told = await mcp.send(undefined, { session: id }).then(({ text }) => text, String)
    expect(told).not.toContain('FORBIDDEN')
  })

  test('of another request cannot bring them unseen', async () => {
    const id = await mcp.session()
    for (const reply of [
      () => events([event(fine(99, 'so FORBIDDEN'))]),
      () => Response.json(fine(99, 'so FORBIDDEN')),
    ]) {
      mcp.upstream.script = reply
      const { text } = await mcp.send({ jsonrpc: '2.0', id: 1, method: 'ping' }, { session: id })
      expect(text).not.toContain('so FORBIDDEN')
    }
  })
})

test('lists of tools are not judged', async () => {
  mcp.upstream.script = () => Response.json(fine(1, 'FORBIDDEN'))
  const { status, text } = await mcp.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  expect(status).toBe(200)
  expect(text).toContain('FORBIDDEN')
})
