import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { adaKey, eventually } from '../../harness/gateway.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../../harness/otlp.ts'
import { type GatewayProcess, spawnGateway } from '../../harness/process.ts'
import { memoryMb } from '../../harness/process-tree.ts'
import {
  event,
  events,
  fine,
  type McpUpstream,
  startMcpUpstream,
  toolCall,
} from './mcp-upstream.fixture.ts'

const STREAMS = 1_000
const CANARY = 'canary-93b2'

let upstream: McpUpstream
let collector: OtlpReceiver
let gateway: GatewayProcess
let breaking: Server

/** Begins an event stream and hangs up in the middle of it. */
function startBreakingServer(): Promise<Server> {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked'
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(`${head}\r\n\r\n6\r\n: hi\n\n\r\n`))
    setTimeout(() => socket.destroy(), 100)
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

beforeAll(async () => {
  upstream = startMcpUpstream()
  breaking = await startBreakingServer()
  const { port } = breaking.address() as { port: number }
  collector = startOtlpReceiver()
  gateway = await spawnGateway(
    {
      server: {
        otel_endpoint: collector.url,
        otel_export_interval_secs: 1,
        shutdown_grace_secs: 5,
      },
      mcp: {
        allow_private_networks: true,
        servers: [
          {
            server_key: 'tools',
            display_name: 'Tools',
            server_url: upstream.url,
            auth_mode: 'gateway_bearer_token',
            auth_config: { secret_ref: 'env/GATEWAY_MCP_SECRET_MANY' },
          },
          {
            server_key: 'breaking',
            display_name: 'Breaking',
            server_url: `http://127.0.0.1:${port}/mcp?tenant=${CANARY}`,
          },
        ],
      },
    },
    { env: { GATEWAY_MCP_SECRET_MANY: `${CANARY}-token` } },
  )
})
afterAll(async () => {
  await gateway?.remove()
  await collector?.stop()
  await upstream?.stop()
  breaking?.close()
})

const headers = { authorization: `Bearer ${adaKey}`, 'content-type': 'application/json' }
const url = () => `${gateway.url}/mcp/tools`

/** A stream by a socket of its own, since `fetch` opens no more than 256 at once; it has spoken. */
function listen(): Promise<Socket> {
  const { port } = new URL(gateway.url)
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect(Number(port), '127.0.0.1', () =>
    socket.write(
      `GET /mcp/tools HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${adaKey}\r\n\r\n`,
    ),
  )
  let text = ''
  socket.on('data', (data) => {
    text += data
    if (text.includes('"hello"')) resolve(socket)
  })
  socket.on('error', reject)
  socket.on('close', () => reject(new Error(`no stream: ${text}`)))
  return promise
}

test('a call is counted and traced, with nothing in either that it holds', async () => {
  upstream.script = () => events([event(fine(1, `${CANARY}-result`))])
  const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const reply = await fetch(url(), {
    method: 'POST',
    headers: { ...headers, traceparent: parent, 'x-request-id': 'traced' },
    body: JSON.stringify(toolCall(1, 'echo', { word: `${CANARY}-argument` })),
  })
  expect(await reply.text()).toContain(CANARY)
  const span = await eventually(
    async () => collector.spans.find(({ name }) => name.includes('/mcp/')),
    15_000,
  )
  expect(span).toMatchObject({
    name: 'POST /mcp/{server_key}',
    kind: 'server',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
  })
  expect(span.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/mcp/{server_key}',
    'http.response.status_code': 200,
    'gateway.request_id': 'traced',
    'gateway.mcp.server_id': expect.any(String),
    'gateway.mcp.server_key': 'tools',
    'gateway.mcp.upstream_auth_mode': 'gateway_bearer_token',
    'gateway.mcp.caller_owner_kind': 'user',
  })
  expect(upstream.seen[0]?.headers.get('traceparent')).toBe(`00-${span.traceId}-${span.spanId}-01`)
  const point = await eventually(async () =>
    collector.points.find(({ metric }) => metric === 'gateway.mcp.tool_invocations'),
  )
  expect(point.labels).toEqual({
    server_id: expect.any(String),
    status: 'success',
    policy_result: 'not_evaluated',
  })
  expect(point.value).toBe(1)
  const duration = collector.points.find(
    ({ metric }) => metric === 'gateway.mcp.tool_invocation.duration',
  )
  expect(duration).toMatchObject({ count: 1 })
  const told = JSON.stringify([collector.bodies, gateway.logs])
  expect(told).not.toContain(CANARY)
  expect(told).not.toContain(adaKey)
})

test('the state of a trace goes on with that trace, and with no other', async () => {
  upstream.script = undefined
  const id = '0af7651916cd43dd8448eb211c80319c'
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const states: (string | null | undefined)[] = []
  for (const traceparent of [
    `00-${id}-b7ad6b7169203331-01`,
    `00-${id}-0000000000000000-01`,
    'no',
  ]) {
    const sent = { ...headers, traceparent, tracestate: 'vendor=1' }
    await (await fetch(url(), { method: 'POST', headers: sent, body })).text()
    states.push(upstream.seen.at(-1)?.headers.get('tracestate'))
  }
  expect(states).toEqual(['vendor=1', null, null])
})

test('a thousand streams at once, again and again: all of them speak, and memory comes back', async () => {
  upstream.script = () =>
    events([event({ jsonrpc: '2.0', method: 'hello' }), Number.POSITIVE_INFINITY])
  const round = async () => {
    const sockets = await Promise.all(Array.from({ length: STREAMS }, listen))
    const used = memoryMb(gateway.pid)
    for (const socket of sockets) socket.destroy()
    await eventually(
      async () =>
        upstream.seen.every(({ method, signal }) => method !== 'GET' || signal.aborted)
          ? true
          : undefined,
      10_000,
    )
    return used
  }
  const first = await round()
  await round()
  await round()
  const last = await round()
  expect(last - first).toBeLessThan(60)
  expect(last).toBeLessThan(400)
}, 60_000)

test('a stream that its server breaks off breaks for the caller, too, and no code is in the log', async () => {
  const body = JSON.stringify(toolCall())
  const reply = await fetch(`${gateway.url}/mcp/breaking`, { method: 'POST', headers, body })
  await expect(reply.text()).rejects.toThrow()
  await Bun.sleep(100)
  expect(gateway.logs.filter(({ level }) => level === undefined)).toEqual([])
  expect(JSON.stringify(gateway.logs)).not.toContain(CANARY)
})

test('streams on which servers only speak do not hold up the end', async () => {
  const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} }
  const asks = [{ headers }, { headers, method: 'POST', body: JSON.stringify(listen) }]
  const readers = await Promise.all(
    asks.map(async (ask) => {
      const { body } = await fetch(url(), ask)
      const reader = (body as ReadableStream<Uint8Array>).getReader()
      await reader.read()
      return reader
    }),
  )
  const begin = performance.now()
  const ended = gateway.end('SIGTERM')
  for (const reader of readers) {
    for (let done = false; !done; ) ({ done } = await reader.read())
  }
  expect(await ended).toBe(0)
  expect(performance.now() - begin).toBeLessThan(4_000)
}, 20_000)
