import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { GatewayError, type HttpCall, type HttpRoute, type Surface } from '../plugin/index.ts'
import { ListenError, type Listening, listen } from './listen.ts'

const bodyLimits = { maxBytes: 1000, timeoutMs: 1000 }
const unused = () => {
  throw new Error('it must not be called')
}
/** Occupies the lowest unprivileged port. */
const FIRST_FREE_PORT = '/proc/sys/net/ipv4/ip_unprivileged_port_start'

const faults: unknown[] = []
/** For each call, whether the caller chose its id. */
const chosen: boolean[] = []
let loggingFails = false

const fault = (_: string, error: unknown) => {
  if (loggingFails) throw new Error('the log is full')
  faults.push(error)
}

/** A plugin route: an event, as one body or as a stream that ends a little later. */
function answerInEvents(call: HttpCall): Response {
  call.keepOpen()
  const init = { headers: { 'content-type': 'text/event-stream' } }
  const event = new TextEncoder().encode('data: {}\n\n')
  if (call.params.kind === 'whole') return new Response(event, init)
  const ended = call.streams()
  if (call.params.kind === 'slow') return new Response(slowly(['{', '}']))
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(event)
      await Bun.sleep(50)
      ended()
      controller.close()
    },
  })
  return new Response(body, init)
}

/** A body with pauses longer than the idle limit of a connection. */
function slowly(pieces: string[]): ReadableStream<Uint8Array> {
  let isFirst = true
  return new ReadableStream({
    async pull(controller) {
      const piece = pieces.shift()
      if (piece === undefined) return controller.close()
      if (!isFirst) await Bun.sleep(6000)
      isFirst = false
      controller.enqueue(new TextEncoder().encode(piece))
    },
  })
}

const httpRoutes: readonly HttpRoute[] = [
  { method: 'ALL', path: '/events/:kind', handle: answerInEvents },
  {
    method: 'GET',
    path: '/pages/*',
    handle({ params, request, url }) {
      if (params['*'] === 'broken') throw new Error('secret detail')
      if (params['*'] === 'there') return new Response('x')
      throw new GatewayError('not_found', `${request.method} ${url().pathname} does not exist`)
    },
  },
  { method: 'GET', path: '/broken', handle: unused },
  {
    method: 'GET',
    path: '/api/v1/things',
    handle: ({ url, address }) =>
      Response.json({ data: [url().searchParams.get('page') ?? address() ?? 'unknown'] }),
  },
]

const surface: Surface = {
  id: 'chat_completions',
  paths: ['/v1/chat/completions'],
  dialect: 'chat_completions',
  operation: 'chat_completions',
  read: unused,
}

const open = (hostname: string, port: number) =>
  listen({
    hostname,
    port,
    bodyTimeoutMs: 1000,
    keptSecs: 1,
    log: pino({ level: 'silent' }),
    services: {
      async infer(call) {
        chosen.push(call.callerChoseRequestId)
        await call.body()
        return { kind: 'buffered', status: 200, headers: {}, body: '{}' }
      },
      bodyLimits,
      fault,
      health: { live: () => Response.json({ status: 'ok' }), ready: unused },
      httpRoutes,
      surfaces: [surface],
      door: { requireOwnHost() {} },
    },
  })

let listening: Listening
beforeAll(() => {
  listening = open('127.0.0.1', 0)
})
afterAll(() => listening.stop(0))
beforeEach(() => {
  faults.length = 0
  loggingFails = false
})

/** Sends raw lines, with an id of the caller. */
function talk(...lines: string[]): Promise<{ status: number; id: string | null; text: string }> {
  const all = [...lines, 'x-request-id: mine', 'connection: close', '', '']
  return new Promise((resolve, reject) => {
    let reply = ''
    const socket = connect(Number(new URL(listening.url).port), '127.0.0.1', () => {
      socket.write(all.join('\r\n'))
    })
    socket.on('data', (data) => {
      reply += data
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', text = ''] = reply.split('\r\n\r\n')
      const id = /^x-request-id: (.*?)\r?$/im.exec(head)?.[1] ?? null
      resolve({ status: Number(head.split(' ')[1]), id, text })
    })
  })
}

describe('the host of a request', () => {
  test.each([
    ['/healthz', 200, '{"status":"ok"}'],
    ['/api/v1/things?page=2', 200, '"data":["2"]'],
    // The end of this path is a path of the gateway.
    ['/away/from/healthz', 404, 'GET /away/from/healthz does not exist'],
    ['//healthz', 404, 'GET //healthz does not exist'],
  ])('is not needed in HTTP/1.0, for %s', async (path, status, text) => {
    const reply = await talk(`GET ${path} HTTP/1.0`)
    expect(reply).toEqual({ status, id: 'mine', text: expect.stringContaining(text) })
  })

  test.each(['a b', 'a/healthz?', 'a@b', '[::', 'host:99999', 'longer.example:99999'])(
    'is refused by name when it is %p',
    async (host) => {
      const reply = await talk('GET /api/v1/things HTTP/1.1', `host: ${host}`)
      expect([reply.status, reply.id]).toEqual([400, 'mine'])
      expect(JSON.parse(reply.text)).toMatchObject({
        error: { code: 'invalid_request', message: expect.stringMatching(/^host: /) },
      })
      expect(faults).toEqual([])
    },
  )
})

describe('a path as it was sent', () => {
  test.each([
    '/healthz/.',
    '/healthz/%2e',
    '/v1/%2e%2E/healthz',
    '/v1/x/../../healthz/',
    '/..\\healthz',
    '/pages\\there',
    '/pages/x%5c..%5cthere',
    '/pages/x%2f..%2fthere',
    '/v1//../../healthz',
    `/v1${'/x'.repeat(20)}${'/..'.repeat(21)}/healthz`,
    '/v1/..#',
    '/api/v1/models/../things',
    '/events/x/../whole',
    'http://localhost/v1/%2e%2e/healthz',
  ])('is refused if it resolves to another path: %s', async (path) => {
    for (const version of ['1.1', '1.0']) {
      const reply = await talk(`GET ${path} HTTP/${version}`, 'host: localhost')
      expect([reply.status, reply.id]).toEqual([400, 'mine'])
      expect(JSON.parse(reply.text).error).toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('the path must not contain . or .. segments'),
      })
    }
    const nameless = await talk(`POST ${path} HTTP/1.0`)
    expect(nameless.status).toBe(400)
  })

  test.each([
    ['GET /healthz/', 200, 'ok'],
    ['GET /healthz?next=/../x', 200, 'ok'],
    ['GET http://localhost/healthz', 200, 'ok'],
    ['HEAD /api/v1/things', 200, ''],
    ['GET /pages/a%5cb', 404, 'GET /pages/a%5cb does not exist'],
    ['GET /pages/...', 404, 'GET /pages/... does not exist'],
    ['GET /', 200, 'ok'],
    ['GET //', 404, 'GET // does not exist'],
    [`GET ${'/x'.repeat(30)}`, 404, 'GET /x/x'],
    ['OPTIONS /api/v1/things', 204, ''],
    ['PUT /api/v1/things', 405, 'takes GET, HEAD, OPTIONS, not PUT'],
  ])('is accepted unchanged: %s', async (line, status, text) => {
    const reply = await talk(`${line} HTTP/1.1`, 'host: localhost')
    expect(reply).toEqual({ status, id: 'mine', text: expect.stringContaining(text) })
  })
})

test.each([
  ['a reply', 'POST /v1/chat/completions'],
  ['a stream of a plugin', 'GET /events/streamed'],
  ['events that came as one', 'GET /events/whole'],
])(
  'a connection over which nothing comes after %s is closed',
  async (_, line) => {
    const caller = connect(Number(new URL(listening.url).port), '127.0.0.1')
    caller.on('error', () => {})
    try {
      const closed = new Promise<string>((resolve) => caller.once('close', () => resolve('closed')))
      let reply = ''
      caller.on('data', (data) => {
        reply += data
      })
      caller.write(`${line} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}`)
      expect(await Promise.race([closed, Bun.sleep(9000)])).toBe('closed')
      expect(reply).toContain('HTTP/1.1 200')
    } finally {
      caller.destroy()
    }
  },
  15_000,
)

test('a reply of a plugin may be silent for longer, whatever it consists of', async () => {
  const reply = await fetch(`${listening.url}/events/slow`)
  expect(await reply.text()).toBe('{}')
}, 15_000)

test('knows the client address of calls to a short host name', async () => {
  for (const host of ['x', 'localhost']) {
    const { text } = await talk('GET /api/v1/things HTTP/1.1', `host: ${host}`)
    expect(text).toContain('"data":["127.0.0.1"]')
  }
})

test('distinguishes ids of callers from generated ids', async () => {
  chosen.length = 0
  for (const id of [{ 'x-request-id': 'mine' }, {}]) {
    await fetch(`${listening.url}/v1/chat/completions`, { method: 'POST', body: '{}', headers: id })
  }
  expect(chosen).toEqual([true, false])
})

describe('the request id is on the reply', () => {
  test('of a page', async () => {
    const reply = await talk('GET /pages/there HTTP/1.1', 'host: localhost')
    expect(reply).toEqual({ status: 200, id: 'mine', text: 'x' })
  })

  test.each([
    ['a page that there is not', '/pages/gone', 404, 'not_found', 0],
    ['a page that fails', '/pages/broken', 500, 'internal_error', 1],
    ['health that fails', '/readyz', 500, 'internal_error', 1],
    ['a route of a plugin that fails', '/broken', 500, 'internal_error', 1],
  ])('of %s', async (_, path, status, code, reported) => {
    const reply = await talk(`GET ${path} HTTP/1.1`, 'host: localhost')
    expect([reply.status, reply.id, faults.length]).toEqual([status, 'mine', reported])
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code, request_id: 'mine' } })
    expect(reply.text).not.toContain('secret')
  })

  test('even if the fault cannot be reported, without showing code', async () => {
    loggingFails = true
    const { status, id, text } = await talk('GET /pages/broken HTTP/1.1', 'host: localhost')
    expect([status, JSON.parse(text).error.code]).toEqual([500, 'internal_error'])
    expect(id).toBe(JSON.parse(text).error.request_id)
  })
})

describe('an address that cannot be listened on', () => {
  const portInUse = () => Number(new URL(listening.url).port)
  test.each([
    ['in use', () => ['127.0.0.1', portInUse()], 'another process uses the port'],
    ['of another machine', () => ['192.0.2.1', 8080], 'this machine does not have the address'],
    // Too long for a host name, so no resolver is called.
    ['of no machine', () => ['x'.repeat(64), 8080], 'the name does not resolve to an address'],
  ] as const)('since it is %s is named, with the setting', (_, address, reason) => {
    const [hostname, port] = address() as [string, number]
    const message = `cannot listen on ${hostname}:${port} (server.bind, or GATEWAY_BIND): ${reason}`
    expect(() => open(hostname, port)).toThrow(message)
    expect(() => open(hostname, port)).toThrow(ListenError)
  })

  test.skipIf(!existsSync(FIRST_FREE_PORT) || Number(readFileSync(FIRST_FREE_PORT)) < 2)(
    'for want of the right to it is named, with the setting',
    async () => {
      // In a separate process, which gives up root privileges.
      const script = `
        const { listen } = await import(${JSON.stringify(join(import.meta.dir, 'listen.ts'))})
        if (process.getuid() === 0) process.setuid(65534)
        const none = { httpRoutes: [], surfaces: [], health: {}, bodyLimits: {} }
        listen({ hostname: '127.0.0.1', port: 1, bodyTimeoutMs: 1, services: none })`
      const child = Bun.spawn([process.execPath, '-e', script], { stderr: 'pipe' })
      expect(await new Response(child.stderr).text()).toContain(
        'cannot listen on 127.0.0.1:1 (server.bind, or GATEWAY_BIND): this account may not use the port',
      )
    },
  )
})

const hasVersion6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1')
test.skipIf(!hasVersion6)('IPv6 addresses are in brackets in URLs and messages', async () => {
  const there = open('::1', 0)
  expect(there.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
  const port = Number(new URL(there.url).port)
  expect(() => open('::1', port)).toThrow(`cannot listen on [::1]:${port} `)
  await there.stop(0)
})
