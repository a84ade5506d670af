import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import type { BoundRoute, ProviderResult, RouteSpec } from 'model-gateway/provider'
import type { Dialect } from 'model-gateway/surface'
import { chatDialect, responsesDialect } from 'model-gateway/wire'
import {
  believable,
  bytes,
  halfEvent,
  html,
  htmlError,
  invalidUtf8,
  type JournalCall,
  jsonInsteadOfStream,
  neverAnswers,
  type Pace,
  type Reply,
  redirect,
  resetBeforeHeaders,
  resetMidStream,
  startUpstream,
  type Upstream,
} from '../harness/upstream.ts'
import {
  type BenchOptions,
  collectEvents,
  type ProviderBench,
  providerCall,
  setUpProvider,
  streamedUsage,
} from './bench.ts'
import { eventFaults, replyFaults } from './client-shape.ts'
import { executor, expectNothingIn, TEST_MS } from './kit.ts'
import { isSent, leaks, repeatingReplies } from './provider-secrets.ts'
import { rechunked, seededRandom } from './rechunk.ts'
import { openObjects } from './schemas.ts'

/** An upstream with a wire format of its own. */
export interface UpstreamKit {
  reply(pace: Pace): Reply
  readonly malformed: readonly Reply[]
  /**
   * How it says with these words that something went wrong, in a refusal and in a stream. The kit plants
   * secrets in them, and tries the shapes that many vendors have by itself.
   */
  faults?(words: string): readonly Reply[]
}

export interface ProviderKit extends Omit<BenchOptions, 'config'> {
  /** The type's own fields, for an upstream at this base URL. */
  config(upstreamUrl: string): unknown
  readonly route?: Partial<RouteSpec>
  /** Values of the config that no error may show. */
  readonly secrets?: readonly string[]
  /**
   * How the upstream answers well and what it answers badly, if not as an OpenAI-compatible one;
   * `none` for a provider that has no upstream.
   */
  readonly upstream?: 'none' | UpstreamKit
  /** Dialects beside chat completions, responses and embeddings that it executes. */
  readonly dialects?: Readonly<Record<string, DialectSample>>
  /** The provider's own tests, with what the kit has set up. */
  cases?(kit: { bench(): ProviderBench; upstream(): Upstream }): void
}

/** A dialect as the kit tries it. */
export interface DialectSample {
  readonly request: JsonObject
  /** The member of a reply that holds what was asked for. */
  readonly payload: string
  /** The member of a reply that says what was used; default `usage`. */
  readonly usage?: string
  readonly streams?: boolean
}

const samples: Readonly<Record<string, DialectSample>> = {
  chat_completions: {
    request: {
      model: 'asked',
      messages: [{ role: 'user', content: 'Where do rivers run?' }],
      stream_options: { include_usage: true },
    },
    payload: 'choices',
    streams: true,
  },
  responses: {
    request: { model: 'asked', input: 'Where do rivers run?' },
    payload: 'output',
    streams: true,
  },
  embeddings: { request: { model: 'asked', input: ['river', 'sea'] }, payload: 'data' },
}

const compat = {
  reply: (pace: Pace) => believable(pace),
  malformed: [
    html,
    htmlError,
    redirect,
    jsonInsteadOfStream,
    halfEvent,
    invalidUtf8,
    resetBeforeHeaders,
    resetMidStream(),
    bytes('', 'text/event-stream', 500),
    bytes('[1, 2', 'application/json', 400),
    bytes('null', 'application/json'),
  ],
}

const streamedDialects: readonly Dialect[] = [chatDialect, responsesDialect]

/** A dialect by its id; one that the kit does not know takes any reply, and is not streamed. */
function dialectOf(id: string): Dialect {
  const readReply = () => ({ usage: undefined, invokedToolCount: undefined })
  return streamedDialects.find((each) => each.id === id) ?? { id, readReply }
}

/** What every provider has to do, as tests. Call it once in a test file. */
export function testProvider(kit: ProviderKit): void {
  const wire: UpstreamKit =
    kit.upstream === 'none'
      ? { reply: () => neverAnswers, malformed: [] }
      : (kit.upstream ?? compat)
  const networked = kit.upstream !== 'none'
  const known = { ...samples, ...kit.dialects }
  const dialects = Object.keys(known)
  const sampleOf = (dialect: string) => known[dialect] as DialectSample
  const streamed = dialects.filter((dialect) => sampleOf(dialect).streams === true)

  describe(`contract of the provider type ${kit.type}`, () => {
    let upstream: Upstream
    let bench: ProviderBench
    let route: BoundRoute

    beforeAll(async () => {
      upstream = await startUpstream()
      bench = await setUpProvider({ ...kit, config: kit.config(upstream.url) })
      route = bench.bind(kit.route)
    })
    beforeEach(() => upstream.clear())
    afterAll(async () => {
      await bench.dispose()
      await upstream.stop()
    })

    const start = (dialect: string, stream: boolean) => {
      const request = { ...sampleOf(dialect).request, ...(stream ? { stream } : {}) }
      const call = providerCall(request, dialectOf(dialect))
      return { call, result: executor(route, dialect)(call) }
    }
    const scriptGood = (pace: Pace) => upstream.always(wire.reply(pace))
    const offered = (dialect: string) => route.execute[dialect] !== undefined

    test('its schemas refuse unknown keys', () => {
      const { manifest } = kit.plugin
      const spec = manifest.providerTypes?.find(({ type }) => type === kit.type)
      expect(spec).toBeDefined()
      for (const schema of [manifest.config, spec?.config, spec?.compatibility]) {
        expect(openObjects(schema, '')).toEqual([])
      }
    })

    test('it serves a dialect, and says where its price is found', () => {
      expect(dialects.filter(offered)).not.toEqual([])
      expect(typeof route.pricing.model).toBe('string')
    })

    test.each(dialects)('%s: a buffered reply with its payload and usage', async (dialect) => {
      if (!offered(dialect)) return
      scriptGood({})
      // The body is frozen: changing it throws.
      const reply = await start(dialect, false).result
      if (reply.kind !== 'buffered') throw new Error('a buffered call was answered by a stream')
      expect(reply.body[sampleOf(dialect).payload]).toBeArray()
      expect(reply.body[sampleOf(dialect).usage ?? 'usage']).toBeObject()
    })

    test.each(streamed)(
      '%s: a stream with usage, whatever the chunks',
      async (dialect) => {
        if (!offered(dialect) || !route.supports.includes('stream')) return
        const data: string[][] = []
        const seed = Math.floor(Math.random() * 2 ** 32)
        const random = seededRandom(seed)
        const whole = wire.reply({})
        const cuts = [1, 2, 3, 5, 17, 64, 1000].map((pieceBytes) => wire.reply({ pieceBytes }))
        const chances = Array.from({ length: 8 }, () => rechunked(whole, random))
        for (const reply of networked ? [whole, ...cuts, ...chances] : [whole]) {
          upstream.always(reply)
          const events = await collectEvents(await start(dialect, true).result)
          expect(streamedUsage(events)).toBeObject()
          // The second in which a chunk was made is the one thing that may differ.
          data.push(
            events.map(({ event = '', data }) => `${event} ${data.replace(/"created":\d+/, '')}`),
          )
        }
        expect(data[0]?.length).toBeGreaterThan(2)
        // The seed cuts the stream in the same places again.
        for (const other of data)
          expect({ seed, data: other }).toEqual({ seed, data: data[0] ?? [] })
      },
      TEST_MS,
    )

    test.each(dialects)('%s: official clients can read what it makes', async (dialect) => {
      if (!offered(dialect)) return
      scriptGood({})
      const reply = await start(dialect, false).result
      if (reply.kind === 'buffered') {
        expectNothingIn(replyFaults(dialect, { ...reply.body, model: 'asked' }))
      }
      const open = dialectOf(dialect).streaming?.open
      if (open === undefined || !route.supports.includes('stream')) return
      const native = route.compatShape === true
      const told = open({ publicModel: 'asked', native })
      const events = told.push(await collectEvents(await start(dialect, true).result))
      told.end()
      expectNothingIn(eventFaults(dialect, [...events, ...told.terminal]))
    })

    test.each(streamed)('%s: no event after an abort or a return', async (dialect) => {
      if (!offered(dialect) || !route.supports.includes('stream')) return
      for (const [index, leave] of (['abort', 'return'] as const).entries()) {
        scriptGood({ gapMs: 25 })
        const { call, result } = start(dialect, true)
        const iterator = eventsOf(await result)
        await iterator.next()
        if (leave === 'abort') call.abort()
        else await iterator.return?.()
        const after = await iterator.next().catch(gatewayErrorOnly)
        expect(after instanceof GatewayError || after.done).toBe(true)
        if (!networked) continue
        const seen = await upstream.received(index)
        await seen.ended
        expect(seen.outcome).toBe('aborted')
      }
    })

    test('disposing twice is harmless', async () => {
      const other = await setUpProvider({ ...kit, config: kit.config(upstream.url) })
      await other.provider.dispose?.()
      await other.provider.dispose?.()
      await other.dispose()
    })

    if (networked) {
      test('an abort before the reply reaches the upstream', async () => {
        upstream.always(neverAnswers)
        const dialect = dialects.find(offered) as string
        const { call, result } = start(dialect, false)
        const seen = await upstream.received(0)
        call.abort()
        expect(await result.catch((error) => error)).toBeInstanceOf(GatewayError)
        await seen.ended
        expect(seen.outcome).toBe('aborted')
      })

      test('it sends the headers and the fields that the config adds', async () => {
        const defaultHeaders = { ...kit.settings?.defaultHeaders, 'x-kit': '1', 'x-kit-both': '1' }
        const other = await setUpProvider({
          ...kit,
          config: kit.config(upstream.url),
          settings: { ...kit.settings, defaultHeaders },
        })
        const extraHeaders = { ...kit.route?.extraHeaders, 'x-kit-both': '2' }
        const extraBody = { ...kit.route?.extraBody, kit_extra: 'added' }
        const dialect = dialects.find(offered) as string
        const added = other.bind({ ...kit.route, extraHeaders, extraBody })
        scriptGood({})
        await executor(added, dialect)(providerCall(sampleOf(dialect).request, dialectOf(dialect)))
        const { headers, body } = upstream.journal.calls.at(-1) as JournalCall
        expect(headers).toMatchObject({ 'x-kit': '1', 'x-kit-both': '2' })
        expect(body).toMatchObject({ kit_extra: 'added' })
        await other.dispose()
      })

      test('malformed replies are GatewayErrors', async () => {
        for (const reply of wire.malformed) {
          upstream.always(reply)
          const outcomes: unknown[] = []
          for (const dialect of dialects.filter(offered)) {
            outcomes.push(await drained(start(dialect, false).result))
            if (!streamed.includes(dialect) || !route.supports.includes('stream')) continue
            outcomes.push(await drained(start(dialect, true).result))
          }
          // A fault of streams need not spoil a buffered reply, and the other way round.
          const errors = outcomes.filter((outcome) => outcome !== undefined)
          expect(errors).not.toEqual([])
          errors.forEach(gatewayErrorOnly)
        }
      })

      test(
        'no secret comes back in an error',
        async () => {
          const secrets = kit.secrets ?? []
          const good = wire.reply({})
          upstream.always(good)
          await drained(start(dialects.find(offered) as string, false).result)
          const call = upstream.journal.calls.at(-1)
          // A vendor can only repeat what it was sent: a signature does not show its key.
          const sent = secrets.filter((secret) => call !== undefined && isSent(call, secret))
          const wrong = new Set<string>()
          for (const reply of repeatingReplies(sent, good, wire.faults)) {
            upstream.always(reply)
            for (const dialect of dialects.filter(offered)) {
              const streams = streamed.includes(dialect) && route.supports.includes('stream')
              for (const stream of streams ? [false, true] : [false]) {
                const found = await leaks(() => start(dialect, stream).result, secrets)
                for (const fault of found) wrong.add(`${dialect}: ${fault}`)
              }
            }
          }
          expectNothingIn([...wrong])
        },
        TEST_MS,
      )
    }

    kit.cases?.({ bench: () => bench, upstream: () => upstream })
  })
}

function eventsOf(result: ProviderResult) {
  if (result.kind !== 'stream') throw new Error('a stream call was answered by a buffered reply')
  return result.events[Symbol.asyncIterator]()
}

/** What a call threw, in the reply or in its stream. */
async function drained(result: Promise<ProviderResult>): Promise<unknown> {
  try {
    const reply = await result
    if (reply.kind === 'stream') await collectEvents(reply)
    return undefined
  } catch (error) {
    return error
  }
}

function gatewayErrorOnly(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  throw new Error('a provider threw something that is not a GatewayError', { cause: error })
}
