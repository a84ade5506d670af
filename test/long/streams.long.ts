import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { type BenchGateway, startBenchGateway } from '../../bench/gateways.ts'
import { type Service, startService } from '../../bench/machine.ts'
import { sendLoad, stopLoadGenerator } from '../../bench/measure.ts'
import { chatBody } from '../../bench/rows.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { eventually } from '../harness/gateway.ts'
import { memoryMb } from '../harness/process-tree.ts'
import { REST_SECS, rounds } from './size.ts'

/**
 * Many calls at once through a governed gateway, and the memory that they take:
 *
 *     bun test ./test/long/streams.long.ts
 *
 * What is promised is printed beside what was seen; what is expected here is what no change may do.
 */
const SLOW_CALLS = 1_000
const STREAMS = 512
const EVENTS = 64
const PACE_MS = 20
const ROUNDS = rounds(4)
/** A machine that others use, too, may be late by seconds. */
const STALLED_MS = 10_000
const IDLE_STREAMS = 2_000

let upstream: Service
let database: TestDatabase
let gateway: BenchGateway

beforeAll(async () => {
  upstream = await startService('./upstream.ts')
  database = await createTestDatabase()
  gateway = await startBenchGateway({
    profile: 'G',
    upstreamUrl: upstream.url,
    databaseUrl: database.url,
  })
}, 60_000)

afterAll(async () => {
  await gateway?.stop()
  await database?.drop()
  await upstream?.stop()
  await stopLoadGenerator()
}, 60_000)

const now = () => Math.round(memoryMb(gateway.pid))

/** The most that the gateway holds while something is done, in megabytes. */
async function peakOf<T>(work: Promise<T>): Promise<{ result: T; peak: number }> {
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, now())
  }, 50)
  const result = await work.finally(() => clearInterval(timer))
  return { result, peak }
}

test('a gateway at rest', async () => {
  await Bun.sleep(5_000)
  console.log(`at rest after its start: ${now()} MB (promised: 120)`)
  expect(now()).toBeLessThan(160)
}, 30_000)

test(`${SLOW_CALLS} slow calls at once are all answered`, async () => {
  const { result, peak } = await peakOf(
    sendLoad({
      url: gateway.url,
      headers: gateway.headers,
      body: chatBody({ metadata: { delay_ms: '5000' } }),
      count: SLOW_CALLS,
      concurrency: SLOW_CALLS,
    }),
  )
  const longest = Math.round(result.latencies.at(-1) ?? 0)
  console.log(`${SLOW_CALLS} calls of 5 s: the last one after ${longest} ms; ${peak} MB`)
  expect(result).toMatchObject({ failures: 0 })
  expect(longest).toBeLessThan(5_000 + STALLED_MS)
}, 60_000)

test(`${STREAMS} paced streams at once: none is lost and none stalls`, async () => {
  const peaks: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const { result, peak } = await peakOf(
      sendLoad({
        url: gateway.url,
        headers: gateway.headers,
        body: chatBody({ stream: true, metadata: { pace_ms: String(PACE_MS) } }),
        count: 4 * STREAMS,
        concurrency: STREAMS,
      }),
    )
    peaks.push(peak)
    expect(result).toMatchObject({ failures: 0 })
    const longest = Math.round(result.latencies.at(-1) ?? 0)
    console.log(`streams of ${EVENTS * PACE_MS} ms: the longest took ${longest} ms; ${peak} MB`)
    expect(longest).toBeLessThan(STALLED_MS)
  }
  console.log(`${STREAMS} streams: at most ${Math.max(...peaks)} MB (promised: 250)`)
  expect(Math.max(...peaks)).toBeLessThan(450)
}, 120_000)

/** A stream by a socket of its own; it has spoken, and is silent for a while. */
function openStream(): Promise<Socket> {
  const { hostname, port, pathname } = new URL(gateway.url)
  const body = chatBody({ stream: true, metadata: { pace_ms: '50000' } })
  const lines = Object.entries(gateway.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${pathname} HTTP/1.1\r\nhost: gateway\r\n${lines.join('')}`
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect(Number(port), hostname)
  socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  let text = ''
  socket.on('data', (data) => {
    text += data
    if (text.includes('data: {')) resolve(socket)
  })
  socket.on('error', reject)
  socket.on('close', () => reject(new Error(`no stream: ${text}`)))
  return promise
}

test(`${IDLE_STREAMS} idle streams stay open, and are booked when their callers leave`, async () => {
  await Bun.sleep(2_000)
  const before = now()
  const sockets = await Promise.all(Array.from({ length: IDLE_STREAMS }, openStream))
  const { peak } = await peakOf(Bun.sleep(REST_SECS * 1_000))
  const open = sockets.filter(({ readyState }) => readyState === 'open').length
  expect(open).toBe(IDLE_STREAMS)
  for (const socket of sockets) socket.destroy()
  const aborted = async () => {
    const [row] = await database.sql<{ count: number }[]>`
      select count(*)::int as count from request_log.request_logs where outcome = 'client_abort'`
    return row?.count === IDLE_STREAMS ? true : undefined
  }
  await eventually(aborted, 60_000)
  await Bun.sleep(5_000)
  console.log(
    `${IDLE_STREAMS} idle streams for ${REST_SECS} s: ` +
      `${before} MB before, ${peak} at most, ${now()} afterwards`,
  )
}, 240_000)
