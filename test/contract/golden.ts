import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GatewayError, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderResult, RouteSpec } from 'model-gateway/provider'
import { type JournalCall, type Reply, startUpstream, type Upstream } from '../harness/upstream.ts'
import {
  type BenchOptions,
  collectEvents,
  type ProviderBench,
  providerCall,
  setUpProvider,
} from './bench.ts'
import { executor, TEST_MS } from './kit.ts'
import { rechunked, seededRandom } from './rechunk.ts'

/**
 * One call of an upstream in a file `NAME.json`: `dialect`, `request` and `reply` are written by
 * hand, or taken from the vendor's own traffic; `sent` and `result` are recorded.
 */
interface GoldenExchange {
  readonly dialect: string
  /** The caller's body. */
  readonly request: JsonObject
  /** What the vendor answers; a body that is text goes out as it stands, else as JSON. */
  readonly reply: {
    readonly status?: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body: JsonValue
  }
  /** What the provider sends. */
  readonly sent?: JsonObject
  /** What it makes of the answer: a body, events, or an error. */
  readonly result?: JsonObject
}

export interface GoldenKit extends Omit<BenchOptions, 'config'> {
  config(upstreamUrl: string): unknown
  readonly route?: Partial<RouteSpec>
  /** The folder of the recordings. */
  readonly folder: string
  /** Values of the config that no recording may hold. */
  readonly secrets?: readonly string[]
  /** Members whose values differ each time. Default: `created` and `created_at`. */
  readonly volatile?: readonly string[]
}

/** Headers of the connection, and those that the gateway adds to every call. */
const UNTOLD = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'host',
  'traceparent',
  'user-agent',
  'x-request-id',
])

const updating = () => process.env.UPDATE_GOLDEN === '1'

/**
 * Compares what a provider sends and makes of the answers with its recordings, as tests, one for
 * each file of the folder. With `UPDATE_GOLDEN=1` in the environment it writes them instead.
 */
export function testGoldenExchanges(kit: GoldenKit): void {
  const { secrets = [], volatile = ['created', 'created_at'] } = kit
  const files = readdirSync(kit.folder).filter((name) => name.endsWith('.json'))

  describe(`golden exchanges of the provider type ${kit.type}`, () => {
    let upstream: Upstream
    let bench: ProviderBench

    beforeAll(async () => {
      upstream = await startUpstream()
      bench = await setUpProvider({ ...kit, config: kit.config(upstream.url) })
    }, TEST_MS)
    beforeEach(() => upstream.clear())
    afterAll(async () => {
      await bench?.dispose()
      await upstream?.stop()
    })

    async function play(exchange: GoldenExchange, reply: Reply) {
      upstream.clear()
      upstream.always(reply)
      const execute = executor(bench.bind(kit.route), exchange.dialect)
      const result = await resultOf(() => execute(providerCall(exchange.request)))
      const call = upstream.journal.calls[0]
      const sent = call === undefined ? null : sentOf(call, upstream.url)
      return steady({ sent, result }, volatile, secrets)
    }

    test('there are recordings', () => expect(files).not.toEqual([]))

    for (const name of files) {
      const file = join(kit.folder, name)
      test(
        name.slice(0, -'.json'.length),
        async () => {
          const exchange = JSON.parse(readFileSync(file, 'utf8')) as GoldenExchange
          const reply = replyOf(exchange)
          const played = await play(exchange, reply)
          if (updating()) {
            const { dialect, request, reply: answer } = exchange
            const recording = { dialect, request, reply: answer, ...played }
            writeFileSync(file, `${JSON.stringify(recording, null, 2)}\n`)
            return
          }
          if (exchange.sent === undefined || exchange.result === undefined) {
            throw new Error(`${name} is not recorded yet: run the tests with UPDATE_GOLDEN=1`)
          }
          expect(played).toEqual({ sent: exchange.sent, result: exchange.result })
          const cut = await play(exchange, rechunked(reply, seededRandom(1)))
          expect(cut).toEqual(played)
        },
        TEST_MS,
      )
    }
  })
}

function replyOf({ reply }: GoldenExchange): Reply {
  const { status = 200, headers = {}, body } = reply
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' ? 'text/event-stream' : 'application/json'
  return async (x) => {
    await x.begin(status, { 'content-type': type, ...headers })
    await x.write(text)
    await x.end()
  }
}

function sentOf({ method, path, headers, body, rawBody }: JournalCall, url: string): JsonObject {
  const base = new URL(url).pathname
  return {
    method,
    path: path.startsWith(base) ? path.slice(base.length) : path,
    headers: Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => !UNTOLD.has(name))
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ),
    body: body ?? rawBody,
  }
}

async function resultOf(call: () => Promise<ProviderResult>): Promise<JsonObject> {
  try {
    const result = await call()
    if (result.kind === 'buffered') return { body: result.body }
    const events = await collectEvents(result)
    return {
      events: events.map(({ event, data }) => ({
        ...(event !== undefined && { event }),
        data: data === '[DONE]' ? data : (JSON.parse(data) as JsonValue),
      })),
    }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const { code, status, message } = error
    return { error: { code, status, message } }
  }
}

/** The same without what differs each time and what nobody may see. */
function steady<T>(value: T, volatile: readonly string[], secrets: readonly string[]): T {
  const text = JSON.stringify(value, (key, part) => (volatile.includes(key) ? '(varies)' : part))
  const masked = secrets.reduce((rest, secret) => rest.replaceAll(secret, '(secret)'), text)
  return JSON.parse(masked) as T
}
