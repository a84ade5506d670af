import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { adminClient } from '../../harness/admin.ts'
import { adaKey, eventually } from '../../harness/gateway.ts'
import { CANARY, type McpBench, startMcpBench } from './mcp-bench.fixture.ts'
import {
  toolCall as call,
  event,
  events,
  fine,
  idOf,
  type McpUpstream,
} from './mcp-upstream.fixture.ts'

let bench: McpBench
let upstream: McpUpstream
const send: McpBench['send'] = (...ask) => bench.send(...ask)
const rowOf: McpBench['rowOf'] = (reply) => bench.rowOf(reply)

beforeAll(async () => {
  bench = await startMcpBench()
  ;({ upstream } = bench)
})
afterAll(() => bench?.stop())
beforeEach(() => {
  upstream.script = undefined
  upstream.seen.length = 0
})

/** Headers that the gateway's own client adds. */
const OWN = ['host', 'connection', 'accept-encoding', 'content-length']

describe('what passes', () => {
  test('a body goes on as it came, byte by byte', async () => {
    const text =
      '{ "method":"tools/call",\n "params":{"arguments":{"n":12345678901234567890.10,"ü":"\\u00fc"},"name":"echo"},"id":1e0,"jsonrpc":"2.0"}'
    expect((await send('tools', { body: text })).status).toBe(200)
    expect(upstream.seen[0]?.text).toBe(text)
  })

  test('only some headers go on, and none that the connection claims', async () => {
    const passes = {
      'mcp-protocol-version': '2025-11-25',
      'last-event-id': '7',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
      'mcp-param-region': 'eu',
      tracestate: 'a=b',
      'user-agent': 'agent/1',
    }
    await send('tools', {
      body: call(),
      headers: {
        ...passes,
        'mcp-param-dropped': 'x',
        connection: 'mcp-param-dropped, keep-alive',
        cookie: `session=${CANARY}`,
        'x-gateway-api-key': adaKey,
        'x-forwarded-for': '10.0.0.1',
        forwarded: 'for=10.0.0.1',
        'x-anything': 'x',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        'x-request-id': 'chosen-1',
      },
    })
    const seen = Object.fromEntries(upstream.seen[0]?.headers ?? [])
    for (const name of OWN) delete seen[name]
    expect(seen).toEqual({
      ...passes,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'x-request-id': 'chosen-1',
    })
    expect(upstream.seen[0]?.headers.get('accept-encoding')).toBe('identity')
  })

  test('only some headers come back', async () => {
    upstream.script = ({ text }) =>
      Response.json(fine(idOf(text)), {
        headers: {
          'mcp-protocol-version': '2025-11-25',
          'retry-after': '7',
          'set-cookie': `a=${CANARY}`,
          server: 'x',
          'www-authenticate': 'Bearer',
          'access-control-allow-origin': '*',
        },
      })
    const reply = await send('tools', { body: call() })
    const names = [...reply.headers.keys()].filter(
      (name) => !['date', 'content-length'].includes(name),
    )
    expect(names.sort()).toEqual([
      'cache-control',
      'content-type',
      'mcp-protocol-version',
      'retry-after',
      'x-request-id',
    ])
    expect(reply.headers.get('cache-control')).toBe('no-store')
  })

  test.each([
    [202, 202],
    [400, 400],
    [404, 404],
    [405, 405],
    [406, 406],
    [409, 409],
    [429, 429],
    [500, 500],
    [503, 503],
    [401, 502],
    [403, 502],
    [302, 502],
    [307, 502],
  ])('the status %d comes as %d', async (status, expected) => {
    upstream.script = () =>
      new Response(
        status === 202 ? null : '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}',
        {
          status,
          headers: {
            'content-type': 'application/json',
            'www-authenticate': 'Bearer',
            location: 'http://169.254.169.254/',
          },
        },
      )
    const reply = await send('tools', { body: call() })
    expect(reply.status).toBe(expected)
    expect(reply.headers.get('www-authenticate')).toBeNull()
    expect(upstream.seen).toHaveLength(1)
    const row = await rowOf(reply)
    expect(row?.status).toBe(
      status === 202
        ? 'incomplete'
        : status === 401 || status === 403
          ? 'unauthorized'
          : 'upstream_error',
    )
  })

  test.each([400, 404, 500])(
    'the status %d comes also when its text is too long',
    async (status) => {
      upstream.script = () => new Response('x'.repeat(70_000), { status })
      const reply = await send('tools', { body: call() })
      expect(reply.status).toBe(status)
      expect(await reply.json()).toMatchObject({
        id: 1,
        error: { data: { code: 'upstream_http_error', upstream_status: status } },
      })
      expect(await rowOf(reply)).toMatchObject({
        status: 'upstream_error',
        error_code: `http_${status}`,
      })
    },
  )

  test('an event stream comes byte by byte, whatever is in it and however it is cut', async () => {
    const text = [
      ': hello\n\n',
      'id: 0\nretry: 5\ndata:\n\n',
      'event: message\r\nid: 1\r\ndata: {"jsonrpc":"2.0","method":"notifications/x","params":{"t":"ü€😀"}}\r\n\r\n',
      event(fine(1, 'grüße'), '2'),
    ].join('')
    const bytes = new TextEncoder().encode(text)
    upstream.script = () => events([...bytes].map((byte) => new Uint8Array([byte])))
    const reply = await send('tools', { body: call() })
    expect(await reply.text()).toBe(text)
    expect(await rowOf(reply)).toMatchObject({
      status: 'success',
      response_bytes: String(bytes.length),
    })
  })

  test('an event stream is not held back', async () => {
    upstream.script = () =>
      events([event({ jsonrpc: '2.0', method: 'x' }), Number.POSITIVE_INFINITY])
    const leave = new AbortController()
    const reply = await send('tools', { body: call(), signal: leave.signal })
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
    const { value } = await reader.read()
    expect(new TextDecoder().decode(value)).toContain('"method":"x"')
    leave.abort()
    await eventually(async () => (upstream.seen[0]?.signal.aborted ? true : undefined), 1000)
    expect((await rowOf(reply))?.status).toBe('cancelled')
  })

  test('the head of an event stream comes before its server has said anything', async () => {
    const server = createServer((_, reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const admin = await adminClient(bench.gateway)
      await admin.post('/api/v1/admin/mcp/servers', {
        server_key: 'silent',
        display_name: 'Silent',
        server_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
      })
      const leave = new AbortController()
      const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(5_000)])
      expect((await send('silent', { method: 'GET', signal })).status).toBe(200)
      leave.abort()
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  test('a caller that leaves before the reply ends the call', async () => {
    upstream.script = () => new Promise(() => {})
    const leave = new AbortController()
    const id = `left-${crypto.randomUUID()}`
    const asked = send('tools', {
      body: call(),
      signal: leave.signal,
      headers: { 'x-request-id': id },
    })
    asked.catch(() => {})
    await eventually(async () => (upstream.seen.length > 0 ? true : undefined))
    leave.abort()
    await eventually(async () => (upstream.seen[0]?.signal.aborted ? true : undefined), 1000)
    expect((await rowOf(id))?.status).toBe('cancelled')
  })

  test('a server that does not answer ends in 504 as a JSON-RPC error', async () => {
    upstream.script = () => new Promise(() => {})
    const reply = await send('slow', { body: call('x') })
    expect(reply.status).toBe(504)
    expect(await reply.json()).toMatchObject({
      jsonrpc: '2.0',
      id: 'x',
      error: { code: -32000, data: { code: 'upstream_timeout' } },
    })
    expect((await rowOf(reply))?.status).toBe('timeout')
  })

  const replies: readonly [name: string, reply: () => Response, status: string][] = [
    [
      'a tool that fails',
      () => Response.json({ jsonrpc: '2.0', id: 1, result: { isError: true, content: [] } }),
      'tool_error',
    ],
    [
      'an error',
      () => Response.json({ jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'm' } }),
      'upstream_error',
    ],
    [
      'two results: the first counts',
      () => events([event(fine(1)), event({ jsonrpc: '2.0', id: 1, result: { isError: true } })]),
      'success',
    ],
    ['the result of another call', () => events([event(fine(2))]), 'incomplete'],
    ['the same id as text', () => events([event(fine('1'))]), 'incomplete'],
    ['half an event', () => events([event(fine(1)).slice(0, 40)]), 'incomplete'],
    [
      'a page',
      () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      'incomplete',
    ],
    ['JSON that calls itself a stream', () => events([JSON.stringify(fine(1))]), 'incomplete'],
    [
      'a stream that calls itself JSON',
      () => new Response(event(fine(1)), { headers: { 'content-type': 'application/json' } }),
      'incomplete',
    ],
  ]
  test.each(replies)('of %s the row says so', async (_, reply, status) => {
    upstream.script = reply
    const sent = await send('tools', { body: call() })
    expect(sent.status).toBe(200)
    await sent.text()
    expect((await rowOf(sent))?.status).toBe(status)
  })

  const error = { code: -32602, message: 'no such tool' }
  test.each([
    ['its own code', { jsonrpc: '2.0', id: 1, error }, 'jsonrpc_-32602', { error: true }],
    ['its status, without one', { error }, 'http_400', null],
    ['its status, where it is that of another call', { id: 2, error }, 'http_400', null],
    ['its status, where it is a result', { id: 1, result: { content: [] } }, 'http_400', null],
  ])('of an error with a status of its own the row tells %s', async (_, message, code, kept) => {
    upstream.script = () => Response.json(message, { status: 400 })
    const sent = await send('tools', { body: call() })
    expect([sent.status, await sent.json()]).toEqual([400, message])
    expect(await rowOf(sent)).toMatchObject({
      status: 'upstream_error',
      error_code: code,
      result_metadata: kept,
    })
  })

  test.each(['tools', 'secret'])('of %s may nest deeper than JSON can be written', async (name) => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const result = (members: string) => `{"jsonrpc":"2.0","id":1,"result":{${members}}}`
    const called = result(`"content":[],"structuredContent":{"a":${deep}}`)
    const listed = result(`"tools":[{"name":"a","inputSchema":{"a":${deep}}}]`)
    for (const [method, text] of [
      ['tools/call', called],
      ['tools/list', listed],
    ] as const) {
      for (const reply of [
        () => new Response(text, { headers: { 'content-type': 'application/json' } }),
        () => events([`data: ${text}\n\n`, 20]),
      ]) {
        upstream.script = reply
        const body = { jsonrpc: '2.0', id: 1, method, params: { name: 'echo' } }
        const signal = AbortSignal.timeout(1000)
        const sent = await send(name, { body, signal })
        expect(await sent.text()).toContain(text)
        if (method === 'tools/call') expect((await rowOf(sent))?.status).toBe('success')
      }
    }
  })

  test('a number and a text are two ids', async () => {
    for (const id of [1, '1']) {
      const reply = await send('tools', { body: call(id) })
      expect(await reply.json()).toMatchObject({ id })
      expect((await rowOf(reply))?.jsonrpc_id_type).toBe(typeof id)
    }
  })
})
