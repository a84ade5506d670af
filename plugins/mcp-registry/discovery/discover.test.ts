import { afterAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { createOutbound } from '../../../kernel/egress/outbound.ts'
import { rpcResult, startScriptedServer } from '../../../test/harness/mcp-servers.ts'
import { discover } from './discover.ts'
import { DiscoveryFailure } from './failure.ts'

const server = startScriptedServer()
const outbound = createOutbound()
afterAll(() => server.stop())
beforeEach(() => {
  server.script = undefined
  server.seen.length = 0
  server.tools = [{ name: 'one' }]
})

function look(signal = new AbortController().signal, serverUrl = server.url, timeoutMs = 2000) {
  return discover(
    outbound,
    {
      serverUrl,
      addresses: { allowPrivate: true, allowedCidrs: [] },
      timeoutMs,
      headers: {},
    },
    signal,
  )
}

async function failureOf(work: Promise<unknown>): Promise<DiscoveryFailure> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof DiscoveryFailure)) throw new Error('no DiscoveryFailure was thrown')
  return error
}

const methods = () => server.seen.map(({ method, message }) => message?.method ?? method)

test('a handshake, the tools, and the end of the session, each with its headers', async () => {
  const found = await look()
  expect(found.protocolVersion).toBe('2025-11-25')
  expect(found.tools.map(({ name }) => name)).toEqual(['one'])
  expect(methods()).toEqual(['initialize', 'notifications/initialized', 'tools/list', 'DELETE'])
  const [first, ...rest] = server.seen
  expect(first?.headers.get('mcp-session-id')).toBeNull()
  expect(first?.headers.get('accept')).toBe('application/json, text/event-stream')
  for (const { headers } of rest) {
    expect(headers.get('mcp-session-id')).toBe('s1')
    expect(headers.get('mcp-protocol-version')).toBe('2025-11-25')
  }
})

test('every known revision is accepted, and used from then on', async () => {
  for (const protocolVersion of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    server.seen.length = 0
    server.script = ({ message }) =>
      message?.method === 'initialize' ? rpcResult(message, { protocolVersion }) : undefined
    expect((await look()).protocolVersion).toBe(protocolVersion)
    expect(server.seen[2]?.headers.get('mcp-protocol-version')).toBe(protocolVersion)
  }
})

test('a server that declares no tools has none, and one that does has to list them', async () => {
  let capabilities: JsonObject = { resources: {}, prompts: {} }
  server.script = ({ message }) => {
    if (message?.method === 'initialize') {
      return rpcResult(message, { protocolVersion: '2025-11-25', capabilities })
    }
    if (message?.method !== 'tools/list') return undefined
    const error = { code: -32601, message: 'Method not found' }
    return Response.json({ jsonrpc: '2.0', id: message.id, error })
  }
  expect((await look()).tools).toEqual([])
  capabilities = { tools: {} }
  expect((await failureOf(look())).message).toContain('JSON-RPC error -32601')
})

test('pages are followed to the end', async () => {
  server.script = ({ message }) => {
    if (message?.method !== 'tools/list') return undefined
    const { cursor } = message.params as JsonObject
    const page = Number(cursor ?? 0)
    return rpcResult(message, {
      tools: [{ name: `tool-${page}` }],
      nextCursor: page < 2 ? String(page + 1) : null,
    })
  }
  expect((await look()).tools.map(({ name }) => name)).toEqual(['tool-0', 'tool-1', 'tool-2'])
})

test.each([
  ['descriptions', (text: string) => ({ description: text })],
  ['titles', (text: string) => ({ title: text })],
  ['annotations', (text: string) => ({ annotations: { text } })],
] as const)('%s count among what is kept of all tools together', async (_, withText) => {
  const words = withText('x'.repeat(1_900_000))
  server.script = ({ message }) => {
    if (message?.method !== 'tools/list') return undefined
    const page = Number((message.params as JsonObject).cursor ?? 0)
    const tools = [{ name: `tool-${page}`, ...words }]
    return rpcResult(message, { tools, ...(page < 8 && { nextCursor: String(page + 1) }) })
  }
  const { message } = await failureOf(look())
  expect(message).toBe('invalid tools: the tools are larger than 16 MiB together')
})

test('names that differ in outer spaces alone are one tool, the first of them', async () => {
  const list = (...names: string[]) => {
    const tools = names.map((name) => ({ name, description: `as ${name}.` }))
    server.script = ({ message }) =>
      message?.method === 'tools/list' ? rpcResult(message, { tools }) : undefined
  }
  list('one', ' one', 'two\u00a0')
  expect((await look()).tools.map(({ name, description }) => [name, description])).toEqual([
    ['one', 'as one.'],
    ['two', 'as two\u00a0.'],
  ])
  list('one', 'one')
  expect((await failureOf(look())).message).toBe('invalid tools: two tools have the same name')
})

test('an empty cursor is followed, unless the server starts over with it', async () => {
  const asked: unknown[] = []
  let second = 'two'
  server.script = ({ message }) => {
    if (message?.method !== 'tools/list') return undefined
    const { cursor } = message.params as JsonObject
    asked.push(cursor)
    if (cursor === undefined)
      return rpcResult(message, { tools: [{ name: 'one' }], nextCursor: '' })
    return rpcResult(message, {
      tools: [{ name: second }],
      ...(second === 'one' ? { nextCursor: '' } : {}),
    })
  }
  expect((await look()).tools.map(({ name }) => name)).toEqual(['one', 'two'])
  second = 'one'
  expect((await look()).tools.map(({ name }) => name)).toEqual(['one'])
  expect(asked).toEqual([undefined, '', undefined, ''])
})

test('a reply is found in an event stream, among other messages and however it is cut', async () => {
  server.script = ({ message }) => {
    if (message?.method !== 'tools/list') return undefined
    const { id } = message
    const events = [
      ': hello\r\nid: 1\r\ndata:\r\n\r\n',
      `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: {} })}\n\n`,
      `data: ${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n\n`,
      `data: ${JSON.stringify({ jsonrpc: '2.0', id: 'other', result: { tools: [{ name: 'no' }] } })}\n\n`,
      `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [{ name: 'größe' }] } })}\n\n`,
    ]
    const bytes = new TextEncoder().encode(events.join(''))
    return new Response(
      new ReadableStream({
        async start(controller) {
          for (let at = 0; at < bytes.length; at += 7) {
            controller.enqueue(bytes.slice(at, at + 7))
            if (at % 70 === 0) await Bun.sleep(0)
          }
          // The stream stays open after the reply.
        },
      }),
      { headers: { 'content-type': 'text/event-stream; charset=utf-8' } },
    )
  }
  expect((await look()).tools.map(({ name }) => name)).toEqual(['größe'])
})

test('a byte order mark before a reply counts for nothing, as in every client', async () => {
  server.script = ({ message }) => {
    if (message?.method !== 'tools/list') return undefined
    const text = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { tools: server.tools } })
    return new Response(`\ufeff${text}`, { headers: { 'content-type': 'application/json' } })
  }
  expect((await look()).tools.map(({ name }) => name)).toEqual(['one'])
})

test.each([
  [400, -32022],
  [400, -32020],
  [404, -32601],
])(
  'a server that refuses a handshake with %d and %d is asked in the new way',
  async (status, code) => {
    server.script = ({ message }) => {
      if (message?.method === 'initialize') {
        return Response.json(
          { jsonrpc: '2.0', id: null, error: { code, message: 'no' } },
          { status },
        )
      }
      if (message?.method === 'server/discover') {
        return Response.json({
          jsonrpc: '2.0',
          id: message.id,
          result: { supportedVersions: ['2026-07-28'], capabilities: {} },
        })
      }
      return undefined
    }
    expect((await look()).protocolVersion).toBe('2026-07-28')
    expect(methods()).toEqual(['initialize', 'server/discover', 'tools/list'])
    for (const { headers, message } of server.seen.slice(1)) {
      expect(headers.get('mcp-method')).toBe(message?.method as string)
      expect(headers.get('mcp-protocol-version')).toBe('2026-07-28')
      expect(message).toMatchObject({
        params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
      })
    }
  },
)

test('a server with an unknown protocol version fails, and its session is ended', async () => {
  const message =
    'unsupported protocol: the gateway does not support any protocol version of the server'
  server.script = ({ message }) =>
    message?.method === 'initialize'
      ? rpcResult(message, { protocolVersion: '2199-01-01', capabilities: {} })
      : undefined
  expect((await failureOf(look())).message).toBe(message)
  expect(methods()).toEqual(['initialize', 'DELETE'])
  server.script = ({ message }) =>
    message?.method === 'initialize'
      ? Response.json({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no' } })
      : rpcResult(message as JsonObject, { supportedVersions: ['2199-01-01'], capabilities: {} })
  expect((await failureOf(look())).message).toBe(message)
})

test.each([
  [200, { jsonrpc: '2.0', id: null, result: {} }, 'was not answered with a JSON-RPC response'],
  [400, { jsonrpc: '2.0', id: 1, result: {} }, 'was answered with status 400'],
])('an answer with status %d that is %j is none', async (status, answer, told) => {
  server.script = () => Response.json(answer, { status })
  expect((await failureOf(look())).message).toContain(`initialize ${told}`)
})

test('a type of content is the same in capital letters', async () => {
  const headers = { 'content-type': 'Application/JSON' }
  server.script = ({ message }) => {
    if (message?.method !== 'tools/list') return undefined
    const reply = { jsonrpc: '2.0', id: message.id, result: { tools: server.tools } }
    return new Response(JSON.stringify(reply), { headers })
  }
  expect((await look()).tools.map(({ name }) => name)).toEqual(['one'])
})

test('a server that does not take the end of the handshake is not asked for its tools', async () => {
  server.script = ({ message }) =>
    message?.method === 'notifications/initialized'
      ? new Response(null, { status: 500 })
      : undefined
  const { message } = await failureOf(look())
  expect(message).toBe('upstream error: notifications/initialized was answered with status 500')
})

test('any other refusal is the end', async () => {
  server.script = ({ message }) =>
    Response.json(
      { jsonrpc: '2.0', id: message?.id, error: { code: -32600, message: 'no' } },
      { status: 400 },
    )
  const failure = await failureOf(look())
  expect([failure.message, failure.upstreamStatus]).toEqual([
    'upstream error: initialize was answered with JSON-RPC error -32600 and status 400',
    400,
  ])
  expect(methods()).toEqual(['initialize'])
})

test('a server that leads elsewhere is not followed there, and the summary says that it does', async () => {
  server.script = () => Response.redirect(`${server.url}/`, 307)
  const failure = await failureOf(look())
  expect([failure.message, failure.upstreamStatus]).toEqual([
    'upstream error: initialize was answered with status 307, a redirect; set server_url to its target',
    307,
  ])
  expect(methods()).toEqual(['initialize'])
})

test('a session is ended when the rest fails, too', async () => {
  server.tools = [{}]
  await failureOf(look())
  expect(methods().at(-1)).toBe('DELETE')
})

test('a session that cannot be ended is not a failure, and waits only as long as for a reply', async () => {
  server.script = ({ message }) =>
    (message === undefined ? Bun.sleep(3000) : undefined) as undefined
  const began = performance.now()
  expect((await look(undefined, undefined, 300)).tools).toHaveLength(1)
  expect(performance.now() - began).toBeLessThan(2000)
})

test('a session is ended although the discovery was given up', async () => {
  const caller = new AbortController()
  server.script = ({ message }) => {
    if (message?.method !== 'tools/list') return undefined
    caller.abort(new DiscoveryFailure('given up'))
    return new Promise<never>(() => {})
  }
  expect((await failureOf(look(caller.signal))).message).toBe('given up')
  expect(methods().at(-1)).toBe('DELETE')
})

test('a discovery that is given up ends at once', async () => {
  const caller = new AbortController()
  server.script = () => new Promise<never>(() => {})
  setTimeout(() => caller.abort(new DiscoveryFailure('given up')), 50)
  expect((await failureOf(look(caller.signal))).message).toBe('given up')
})

test('a closed port, and a forbidden address', async () => {
  const of = (serverUrl: string, allowPrivate: boolean) =>
    failureOf(
      discover(
        outbound,
        { serverUrl, addresses: { allowPrivate, allowedCidrs: [] }, timeoutMs: 1000, headers: {} },
        new AbortController().signal,
      ),
    )
  expect((await of('http://127.0.0.1:1/', true)).message).toStartWith('unreachable: ')
  expect((await of(server.url, false)).message).toStartWith('address refused: ')
  expect(server.seen).toEqual([])
})

test.each([
  ['application/json', '{"json'],
  ['text/event-stream', 'data: {"json'],
])('a server that breaks off within %s is unreachable', async (type, part) => {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`
  const broken = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      async data(socket) {
        socket.write(`${head}${part.length.toString(16)}\r\n${part}\r\n`)
        await Bun.sleep(50)
        socket.terminate()
      },
    },
  })
  try {
    const failure = await failureOf(look(undefined, `http://127.0.0.1:${broken.port}/mcp`))
    expect(failure.message).toBe('unreachable: the connection closed before the reply ended')
  } finally {
    broken.stop(true)
  }
})

test('a discovery that is given up within a reply ends with the reason of that', async () => {
  const caller = new AbortController()
  server.script = () =>
    new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array([123])) }), {
      headers: { 'content-type': 'application/json' },
    })
  setTimeout(() => caller.abort(new DiscoveryFailure('given up')), 100)
  expect((await failureOf(look(caller.signal))).message).toBe('given up')
})
