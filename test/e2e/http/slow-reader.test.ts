import { expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import postgres from 'postgres'
import { adaKey, eventually } from '../../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../../harness/process.ts'
import { memoryMb } from '../../harness/process-tree.ts'
import { startUpstream } from '../../harness/upstream.ts'

const STREAM_MB = 200
/** What lies in the buffers of four sockets, and some. */
const ON_THE_WAY_MB = 40

const text = 'x'.repeat(16 << 10)
const FRAME = `data: {"choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`

/** A caller of a stream that reads nothing but its first bytes until it is resumed. */
function callAndPause(gateway: GatewayProcess): Socket {
  const body = JSON.stringify({
    model: 'm',
    stream: true,
    messages: [{ role: 'user', content: 'hi' }],
  })
  const { hostname, port } = new URL(gateway.url)
  const caller = connect(Number(port), hostname)
  caller.on('error', () => {})
  caller.once('data', () => caller.pause())
  caller.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${adaKey}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  return caller
}

test(`a stream of ${STREAM_MB} MB to a caller that does not read waits upstream, not in memory`, async () => {
  await using started = new AsyncDisposableStack()
  const upstream = await startUpstream()
  started.defer(upstream.stop)
  let written = 0
  const brokenOff = Promise.withResolvers<void>()
  upstream.always(async (x) => {
    await x.begin(200, { 'content-type': 'text/event-stream' })
    while (written < STREAM_MB << 20 && !x.gone.aborted) {
      await x.write(FRAME)
      written += FRAME.length
    }
    if (x.gone.aborted) brokenOff.resolve()
    await x.end()
  })
  const gateway = await spawnGateway({
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
    accounting: { abort_drain_secs: 0 },
  })
  started.defer(gateway.remove)
  const peakMegabytes = () => memoryMb(gateway.pid, 'peak')

  const before = peakMegabytes()
  const caller = callAndPause(gateway)
  started.defer(() => void caller.destroy())
  // Until nothing moves any more.
  for (let seen = -1; seen !== written || written === 0; await Bun.sleep(500)) seen = written
  const grown = peakMegabytes() - before
  console.log(`${written >> 20} MB came, memory grew by ${grown.toFixed(0)} MB`)
  expect(written).toBeLessThan(ON_THE_WAY_MB << 20)
  expect(grown).toBeLessThan(60)

  // It was told to stop, and hears when there is nobody left.
  caller.destroy()
  await brokenOff.promise
}, 30_000)

test('a caller that pauses for longer than the idle limit gets the rest; the provider was not silent', async () => {
  await using started = new AsyncDisposableStack()
  const upstream = await startUpstream()
  started.defer(upstream.stop)
  const frames = (ON_THE_WAY_MB << 20) / FRAME.length
  upstream.always(async (x) => {
    await x.begin(200, { 'content-type': 'text/event-stream' })
    for (let i = 0; i < frames; i++) await x.write(FRAME)
    await x.write('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n')
    await x.write('data: [DONE]\n\n')
    await x.end()
  })
  const idleMs = 300
  const gateway = await spawnGateway({
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url, timeouts: { idle_ms: idleMs } },
    ],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
  })
  started.defer(gateway.remove)

  const caller = callAndPause(gateway)
  started.defer(() => void caller.destroy())
  await Bun.sleep(4 * idleMs)
  const end = Promise.withResolvers<string>()
  let last = ''
  caller.on('data', (bytes) => {
    last = (last + bytes.toString('latin1')).slice(-200)
    if (last.includes('[DONE]') || last.includes('"error"')) end.resolve(last)
  })
  caller.resume()
  expect(await end.promise).toContain('[DONE]')

  const sql = postgres(gateway.databaseUrl, { max: 1, onnotice: () => {} })
  started.defer(() => sql.end())
  const row = await eventually(async () => {
    const [found] = await sql<{ outcome: string }[]>`select outcome from request_log.request_logs`
    return found
  })
  expect(row.outcome).toBe('success')
}, 30_000)
