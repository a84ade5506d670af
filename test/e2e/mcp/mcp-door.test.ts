import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { adaKey, type TestGateway, testKey } from '../../harness/gateway.ts'
import { type McpBench, startMcpBench } from './mcp-bench.fixture.ts'
import { toolCall as call, type McpUpstream } from './mcp-upstream.fixture.ts'

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

describe('the door', () => {
  test('knows three methods', async () => {
    for (const method of ['PUT', 'PATCH', 'OPTIONS']) {
      const reply = await send('tools', { method, headers: { 'x-request-id': 'mine' } })
      expect(reply.status).toBe(405)
      expect(reply.headers.get('x-request-id')).toBe('mine')
      expect(reply.headers.get('allow')).toBe('GET, POST, DELETE')
    }
  })

  test.each(['/', '/mcp/tools', '-foo'])('has no protected resource %s', async (suffix) => {
    const reply = await fetch(`${gateway.url}/.well-known/oauth-protected-resource${suffix}`)
    expect(reply.status).toBe(404)
    expect(reply.headers.get('content-type')).toContain('application/json')
  })

  test.each([
    ['nothing', {}, 401, 'missing_authorization_header'],
    ['x-api-key alone', { 'x-api-key': adaKey }, 401, 'missing_authorization_header'],
    ['a wrong key', { authorization: `Bearer ${testKey('nobody')}` }, 401, 'api_key_not_found'],
  ])('refuses %s', async (_, headers, status, code) => {
    const reply = await fetch(`${gateway.url}/mcp/tools`, { method: 'POST', headers, body: '{}' })
    expect(reply.status).toBe(status)
    expect(reply.headers.get('www-authenticate')).toBe('Bearer')
    expect(reply.headers.get('x-should-retry')).toBe('false')
    expect(((await reply.json()) as { error: { code: string } }).error.code).toBe(code)
    expect(upstream.seen).toEqual([])
  })

  test('does not ask for the header that it does not take', async () => {
    const headers = { 'x-api-key': adaKey }
    const reply = await fetch(`${gateway.url}/mcp/tools`, { method: 'POST', headers, body: '{}' })
    const { error } = (await reply.json()) as { error: { message: string } }
    expect(error.message).toBe(
      "no API key: send 'Authorization: Bearer gwk_…' or x-gateway-api-key",
    )
  })

  test('takes x-gateway-api-key', async () => {
    const headers = { 'x-gateway-api-key': adaKey, 'content-type': 'application/json' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const reply = await fetch(`${gateway.url}/mcp/tools`, { method: 'POST', headers, body })
    expect(reply.status).toBe(200)
  })

  test.each([
    ['the own address', () => gateway.url, 200],
    ['an allowed page', () => 'https://app.example.com', 200],
    ['another page', () => 'https://evil.example.com', 403],
    ['no page', () => 'null', 403],
  ])('judges the origin of %s', async (_, origin, status) => {
    const headers = { origin: origin() }
    const reply = await send('tools', { headers, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })
    expect(reply.status).toBe(status)
  })

  test('on a loopback address refuses names of other machines', async () => {
    const status = await raw(
      `POST /mcp/tools HTTP/1.1\r\nHost: evil.example.com\r\nAuthorization: Bearer ${adaKey}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    )
    expect(status).toContain('HTTP/1.1 403')
  })

  test('does not tell a disabled or caller-bound server from what it may not call', async () => {
    const unknown = await send('unknown', { body: call() })
    expect(unknown.status).toBe(404)
    const personal = await send('personal', { body: call() })
    expect(personal.status).toBe(403)
    const { error } = (await personal.json()) as { error: { code: string } }
    expect(error.code).toBe('mcp_upstream_auth_required')
    expect(upstream.seen).toEqual([])
  })

  test('takes 4 MiB and no more', async () => {
    const body = (size: number) => JSON.stringify(call(1, 'echo', { message: 'x'.repeat(size) }))
    expect((await send('tools', { body: body(4 * 1024 * 1024 - 200) })).status).toBe(200)
    expect((await send('tools', { body: body(4 * 1024 * 1024) })).status).toBe(413)
  })

  test('says that a message is too large to those who read only when all of it is sent', async () => {
    const body = Buffer.alloc(8 * 1024 * 1024, 'x')
    for (let i = 0; i < 5; i++) expect(await sentWhole(body)).toStartWith('HTTP/1.1 413 ')
  })
})

/** What comes first when a client sends all of a message before it reads. */
function sentWhole(body: Buffer): Promise<string> {
  const { port } = new URL(gateway.url)
  const head = `POST /mcp/tools HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(head)
      socket.write(body, () =>
        socket.once('data', (data) => {
          resolve(`${data}`)
          socket.destroy()
        }),
      )
    })
    socket.on('close', () => reject(new Error('closed before all was sent and answered')))
    socket.on('error', reject)
  })
}

function raw(text: string): Promise<string> {
  const { port } = new URL(gateway.url)
  return new Promise((resolve, reject) => {
    let reply = ''
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
    socket.on('data', (data) => (reply += data))
    socket.on('close', () => resolve(reply))
    socket.on('error', reject)
  })
}

describe('messages that could be read in two ways', () => {
  const bodies: readonly [
    name: string,
    body: string,
    code: number,
    row: boolean,
    headers?: object,
  ][] = [
    ['no JSON', '{"jsonrpc":', -32700, false],
    ['nothing', '', -32700, false],
    ['text behind it', '{"jsonrpc":"2.0","id":1,"method":"ping"}{}', -32700, false],
    ['a batch', `[${JSON.stringify(call())}]`, -32600, false],
    ['an empty batch', '[]', -32600, false],
    ['a string', '"tools/call"', -32600, false],
    ['no version', '{"id":1,"method":"ping"}', -32600, false],
    ['a method that is none', '{"jsonrpc":"2.0","id":1,"method":7}', -32600, false],
    ['neither method nor result', '{"jsonrpc":"2.0","id":1}', -32600, false],
    ['an id of null', JSON.stringify(call(null)), -32600, false],
    ['an id that is an object', JSON.stringify(call({})), -32600, false],
    ['no id', '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}', -32600, true],
    ['no name', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', -32602, true],
    [
      'a name that is a list',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["echo"]}}',
      -32602,
      true,
    ],
    [
      'params that are a list',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["echo"]}',
      -32602,
      true,
    ],
    [
      'two methods',
      '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"echo"}}',
      -32600,
      true,
    ],
    [
      'two methods, one escaped',
      '{"jsonrpc":"2.0","id":1,"method":"ping","meth\\u006fd":"tools/call","params":{"name":"echo"}}',
      -32600,
      true,
    ],
    [
      'two params',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"params":{"name":"rm"}}',
      -32600,
      true,
    ],
    [
      'two names',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"rm"}}',
      -32600,
      true,
    ],
    [
      'two arguments',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"arguments":{"a":1}}}',
      -32600,
      true,
    ],
    [
      'an argument twice, deep',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":[{"b":1,"b":2}]}}}',
      -32600,
      true,
    ],
    [
      'a method in another case beside it',
      '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"rm"}}',
      -32600,
      false,
    ],
    [
      'a response with a method in another case',
      '{"jsonrpc":"2.0","id":1,"result":{},"METHOD":"tools/call","params":{"name":"rm"}}',
      -32600,
      false,
    ],
    [
      'params in another case',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"param\u017f":{"name":"rm"}}',
      -32600,
      true,
    ],
    [
      'a name in another case',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"rm"}}',
      -32600,
      true,
    ],
    [
      'arguments in another case',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Arguments":{"a":1}}}',
      -32600,
      true,
    ],
    ['another Mcp-Name', JSON.stringify(call()), -32020, true, { 'mcp-name': 'other' }],
    ['a broken Mcp-Name', JSON.stringify(call()), -32020, true, { 'mcp-name': '=?base64?!?=' }],
    ['another Mcp-Method', JSON.stringify(call()), -32020, true, { 'mcp-method': 'tools/list' }],
  ]
  test.each(bodies)('%s', async (_, body, code, hasRow, headers = {}) => {
    const reply = await send('tools', { body, headers: headers as Record<string, string> })
    expect(reply.status).toBe(400)
    const message = (await reply.json()) as {
      jsonrpc: string
      error: { code: number; data: object }
    }
    expect(message).toMatchObject({
      jsonrpc: '2.0',
      error: { code, data: { code: 'invalid_request' } },
    })
    expect(upstream.seen).toEqual([])
    if (hasRow) expect((await rowOf(reply))?.status).toBe('invalid_request')
  })

  test('the right Mcp-Name passes, encoded too', async () => {
    for (const [name, header] of [
      ['echo', 'echo'],
      ['grüße', `=?base64?${Buffer.from('grüße').toString('base64')}?=`],
    ] as const) {
      const headers = { 'mcp-name': header, 'mcp-method': 'tools/call' }
      expect((await send('tools', { body: call(1, name), headers })).status).toBe(200)
    }
  })

  test('another charset is refused', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-16' }
    expect((await send('tools', { body: call(), headers })).status).toBe(400)
    expect(upstream.seen).toEqual([])
  })

  test('very deep JSON does no harm', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":${deep}}}}`
    const reply = await send('tools', { body })
    expect(reply.status).toBe(200)
  })
})
