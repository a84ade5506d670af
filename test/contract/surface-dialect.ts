import { expect, test } from 'bun:test'
import { GatewayError, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Dialect, DialectStream, ReplyFacts } from 'model-gateway/surface'
import { type StreamEvent, streamEvent, type Usage } from 'model-gateway/wire'
import { benchRoute } from './bench.ts'
import { eventFaults, replyFaults } from './client-shape.ts'
import { expectNothingIn, frozen, textOf } from './kit.ts'
import { seededRandom } from './rechunk.ts'
import { batchesOf, oddBodies, spoiltBodies } from './surface-odd.ts'

export interface DialectSample {
  /** Whole replies, with usage in them. */
  readonly replies: readonly JsonObject[]
  /** False: the replies state no usage, because the calls cost nothing. */
  readonly metered?: boolean
  /** Requests that it answers itself; for a dialect that does. */
  readonly answers?: readonly JsonObject[]
  /** Bodies that are no replies, beside the usual ones. */
  readonly malformed?: readonly JsonValue[]
  /** A whole stream as an upstream sends it; for a dialect that streams. */
  readonly stream?: readonly StreamEvent[]
}

const CANARY = 'sk-proj-canary5d1f7cA1b2C3d4E5f6G7h8I9j0K1l2M3n4'
const telling = { error: { message: `the key ${CANARY} is wrong`, type: 'x', code: 'x' } }
export const opening = { publicModel: 'kit-model', native: true }

export function testDialect(find: () => Dialect, sample: DialectSample): void {
  const { replies, malformed = [], metered = true, answers = [] } = sample

  test('readReply tells the usage of a reply, twice the same, and leaves it as it is', () => {
    expect(replies.length).toBeGreaterThan(0)
    for (const reply of replies) {
      const facts = find().readReply(frozen(structuredClone(reply)))
      expect(facts.usage !== undefined).toBe(metered)
      expectNothingIn(usageFaults(facts.usage))
      expect(find().readReply(reply)).toEqual(facts)
      expect(find().readReply({ ...reply, kit_unknown: [null, {}] })).toEqual(facts)
    }
  })

  test('readReply throws upstream_transport for what is no reply', () => {
    expectNothingIn(
      [...oddBodies, telling, ...malformed].flatMap((body) => {
        const { error } = readBy(find(), body)
        if (error === undefined) return [`it takes ${JSON.stringify(body)}`]
        return isTransport(error) ? [] : [`${JSON.stringify(body)}: it throws ${error}`]
      }),
    )
  })

  test('readReply and the views take replies that are spoilt', () => {
    expectNothingIn(
      replies.flatMap(spoiltBodies).flatMap((body) => {
        const { facts, error } = readBy(find(), body)
        if (facts === undefined) {
          return isTransport(error) ? [] : [`${JSON.stringify(body)}: it throws ${error}`]
        }
        const faults = [...usageFaults(facts.usage), ...viewFaults(find(), body)]
        return faults.map((fault) => `${JSON.stringify(body)}: ${fault}`)
      }),
    )
  })

  test('no key that an upstream repeats is in an error', () => {
    const { error } = readBy(find(), telling)
    const stream = find().streaming?.open(opening)
    stream?.push([streamEvent(JSON.stringify(telling))])
    stream?.end()
    expect(textOf(error) + (stream?.failure?.message ?? '')).not.toContain(CANARY)
  })

  test('a refusal, where it has one, is a reply that official clients read', () => {
    const { refusal, readReply, streaming } = find()
    if (refusal === undefined) return
    const { usage } = readReply(replies[0] as JsonObject)
    const identity = { publicModel: 'kit-model', requestId: 'kit' }
    const reply = refusal('Kit says no.', usage, identity)
    expect(readReply(reply).usage).toMatchObject({ totalTokens: usage?.totalTokens })
    expect(readReply(refusal('Kit says no.', undefined, identity)).failure).toBeUndefined()
    expectNothingIn(replyFaults(find().id, reply))
    const events = streaming?.tell(reply) ?? []
    expectNothingIn(eventFaults(find().id, events))
    const said = streaming ? events.map(({ data }) => streaming.textOf(data)).join('') : ''
    expect(said || JSON.stringify(reply)).toContain('Kit says no.')
  })

  test('it answers itself, or it has no sample of that', async () => {
    expect(find().answer !== undefined).toBe(answers.length > 0)
    for (const request of answers) {
      const answer = () => find().answer?.(frozen(structuredClone(request)), benchRoute)
      const result = await answer()
      expect(find().readReply(result?.body ?? null).failure).toBeUndefined()
      expect(await answer()).toEqual(result)
    }
  })

  testStreaming(find, sample)
}

function testStreaming(find: () => Dialect, { stream = [] }: DialectSample): void {
  const streaming = () => {
    const one = find().streaming
    if (one === undefined) throw new Error('the dialect does not stream')
    return one
  }

  test('it streams, or it has no sample of a stream', () => {
    expect(find().streaming !== undefined).toBe(stream.length > 0)
  })
  if (stream.length === 0) return

  const whole = () => {
    const { sent, told } = runStream(streaming().open(opening), stream)
    expect(told.outcome).toBe('complete')
    return [...sent, ...told.terminal]
  }

  test('a stream is the same, however it is cut', () => {
    expectSameStreams(() => streaming().open(opening), stream)
  })

  test('a stream that is cut short fails', () => {
    expectCutStreamsFail(() => streaming().open(opening), stream)
  })

  test('nothing follows the end of a stream', () => {
    const { told } = runStream(streaming().open(opening), stream)
    expect(told.push(stream)).toEqual([])
    expect(told.outcome).toBe('complete')
  })

  test('odd events are passed on or fail the stream', () => {
    for (const body of [...oddBodies, telling]) {
      const told = streaming().open(opening)
      for (const data of [JSON.stringify(body), '', '{', 'kit']) {
        expect(told.push([streamEvent(data)])).toBeArray()
      }
      told.end()
      expect(told.outcome).not.toBe('open')
    }
  })

  test('collect gives the reply of a stream, and tell the stream of a reply', () => {
    const reply = streaming().collect(whole())
    const { usage } = find().readReply(reply)
    expect(usage).toEqual(runStream(streaming().open(opening), stream).told.usage as Usage)
    const events = streaming().tell(reply)
    expect(streaming().collect(events)).toEqual(reply)
    expectNothingIn([whole(), events].flatMap((told) => eventFaults(find().id, told)))
    const text = (all: readonly StreamEvent[]) =>
      all.map(({ data }) => streaming().textOf(data)).join('')
    expect(text(events)).toBe(text(whole()))
  })
}

/** A stream in one batch, up to its end. */
function runStream(told: DialectStream, events: readonly StreamEvent[]) {
  const sent = told.push(events)
  told.end()
  return { told, sent }
}

const shown = (events: readonly StreamEvent[]) =>
  events.map(({ event = '', data }) => `${event} ${data}`)

export function expectSameStreams(
  open: () => DialectStream,
  events: readonly StreamEvent[],
): readonly StreamEvent[] {
  const { sent, told } = runStream(open(), events)
  expect(told.outcome).toBe('complete')
  expect(told.terminal.length).toBeGreaterThan(0)
  for (let seed = 1; seed <= 10; seed++) {
    const other = open()
    const pieces: StreamEvent[] = []
    for (const batch of batchesOf(events, seededRandom(seed))) {
      pieces.push(...other.push(batch))
      if (other.outcome === 'open') expect(other.terminal).toEqual([])
    }
    other.end()
    expect({ seed, events: shown([...pieces, ...other.terminal]) }).toEqual({
      seed,
      events: shown([...sent, ...told.terminal]),
    })
    expect(other.usage).toEqual(told.usage as Usage)
  }
  return [...sent, ...told.terminal]
}

export function expectCutStreamsFail(
  open: () => DialectStream,
  events: readonly StreamEvent[],
): void {
  for (let length = 0; length < events.length; length++) {
    const { told } = runStream(open(), events.slice(0, length))
    // What closes a stream may come after all that counts.
    expect([length, told.outcome]).toEqual([
      length,
      length < 2 ? 'failed' : expect.stringMatching(/^(failed|complete)$/),
    ])
    if (told.outcome === 'failed') expect(told.failure?.message).toBeString()
  }
}

function readBy(dialect: Dialect, body: JsonValue): { facts?: ReplyFacts; error?: unknown } {
  try {
    return { facts: dialect.readReply(body) }
  } catch (error) {
    return { error }
  }
}

function isTransport(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'upstream_transport'
}

function usageFaults(usage: Usage | undefined): string[] {
  const { parts = {}, uses = {}, tier, statedUsd, doubt, ...counts } = usage ?? {}
  return Object.entries({ ...counts, ...parts, ...uses })
    .filter(([, count]) => count !== undefined && !(Number.isSafeInteger(count) && count >= 0))
    .map(([name, count]) => `${name} of its usage is ${count}`)
}

function viewFaults({ views }: Dialect, body: JsonObject): string[] {
  try {
    const texts = views?.replyTexts?.(body)
    const calls = views?.madeToolCalls?.(body)
    const same = [
      body,
      texts?.replace(texts.segments) ?? body,
      calls?.replace(calls.calls) ?? body,
    ].map((each) => JSON.stringify(each))
    return new Set(same).size === 1 ? [] : ['a view changes a reply whose texts stay the same']
  } catch (error) {
    return [`a view throws ${error}`]
  }
}
