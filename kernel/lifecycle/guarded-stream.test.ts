import { afterEach, expect, jest, test } from 'bun:test'
import { speaking } from '../../test/harness/surfaces.ts'
import {
  type ExchangeRecord,
  type GuardVerdict,
  type Settlement,
  type SettlementRequest,
  type StreamEvent,
  streamEvent,
} from '../plugin/index.ts'
import { beginAttempt } from './attempt.ts'
import { chunk, silent, upstream, whole } from './chat-events.fixture.ts'
import { compileChains } from './compile-chains.ts'
import { conclude } from './conclude.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { openStream } from './execute.ts'
import { nothing } from './settle.ts'

/** A guarded stream; `decide` permits it. */
function start(
  events:
    | AsyncIterable<readonly StreamEvent[]>
    | ((signal: AbortSignal) => AsyncIterable<readonly StreamEvent[]>),
  { left = new AbortController(), bufferBytes = 10_000, dialect = 'chat_completions' } = {},
) {
  const calls: SettlementRequest[] = []
  let drains = 0
  const verdict = Promise.withResolvers<GuardVerdict>()
  const recorded = Promise.withResolvers<ExchangeRecord>()
  const services = {
    accounting: {
      async settle(call: SettlementRequest): Promise<Settlement> {
        calls.push(call)
        return { kind: 'none' }
      },
      abortDrainMs() {
        drains++
        return 0
      },
    },
    recorders: [{ record: recorded.resolve }],
    chains: compileChains([], []),
    fault() {},
  } as unknown as LifecycleServices
  const guard = {
    covers: (phase: string) => phase === 'model_response',
    inspect: () => verdict.promise,
    streamBufferBytes: bufferBytes,
  }
  const admitted = {
    requestId: 'r1',
    ...speaking(dialect),
    read: { stream: true },
    model: { id: 'mine' },
    executionModel: { id: 'mine' },
    provider: { id: 'p', type: 'p', timeouts: { totalMs: 600_000, idleMs: 600_000 } },
    route: { spec: {}, bound: { pricing: {}, compatShape: true }, guard },
    lease: { runtime: { configVersion: 'v1' }, release() {} },
    trace: { finished() {} },
    headers: {},
    dropped: new Set(),
    dispatchedAt: new Date(),
    callerLeft: () => left.signal,
  } as unknown as Admitted
  const attempt = beginAttempt(admitted, services)
  const given = typeof events === 'function' ? events(attempt.watchdog.signal) : events
  const result = { kind: 'stream', events: given, billingModifiers: ['fast'] } as const
  const stream = conclude(
    {
      exchange: admitted,
      attempts: [],
      spent: nothing,
      error: undefined,
      stream: { attempt, result, told: openStream(admitted, true) },
    },
    services,
  ).then(async (reply) => {
    if (reply.kind === 'stream') return reply.stream
    const { errorCode: code, attempts } = await recorded.promise
    throw Object.assign(new Error(code), { error: { code }, attempt: attempts[0] })
  })
  const decide = (given: GuardVerdict = { action: 'allow', decisionId: 'd1' }) =>
    verdict.resolve(given)
  const { signal } = attempt.watchdog
  return { stream, decide, calls, recorded: recorded.promise, signal, drains: () => drains }
}

afterEach(() => {
  jest.useRealTimers()
})

test('the stream of a caller that left before its start is read on no longer than others', async () => {
  const left = new AbortController()
  left.abort()
  const { stream, calls } = start(silent([[chunk('a')]]), { left })
  await expect(stream).rejects.toMatchObject({ attempt: { status: 'client_abort' } })
  expect(calls).toMatchObject([
    { succeeded: true, usage: { output: 5, doubt: 'client_abort' }, billingModifiers: ['fast'] },
  ])
})

test('as much as may be held back passes, and a byte more does not', async () => {
  const size = whole.flat().reduce((sum, { data }) => sum + Buffer.byteLength(data), 0)
  const fits = start(upstream(whole), { bufferBytes: size })
  fits.decide()
  expect(await (await fits.stream).next()).toContain('"a"')
  const over = start(upstream(whole), { bufferBytes: size - 1 })
  await expect(over.stream).rejects.toMatchObject({ error: { code: 'guarded_response_too_large' } })
  expect(over.calls).toMatchObject([{ succeeded: true }])
})

test('an upstream that is silent without ending is aborted, and its content passes later', async () => {
  const { stream, decide, recorded, signal } = start(silent(whole))
  await Bun.sleep(1100)
  expect(signal.aborted).toBe(true)
  decide()
  const reply = await stream
  let text = ''
  for (let next = await reply.next(); next !== undefined; next = await reply.next()) text += next
  expect(text).toEndWith('data: [DONE]\n\n')
  expect(await recorded).toMatchObject({ outcome: 'success', attempts: [{ status: 'success' }] })
})

test('a reply that is denied is charged as one that was sent', async () => {
  const { stream, decide, calls } = start(upstream(whole))
  decide({ action: 'deny', decisionId: 'd1', reasonCode: 'r', message: 'no' })
  await expect(stream).rejects.toMatchObject({ error: { code: 'guardrail_denied' } })
  expect(calls).toMatchObject([
    { succeeded: true, usage: { output: 5 }, billingModifiers: ['fast'] },
  ])
})

test('a reply that a guard changed is charged by the provider’s counters', async () => {
  const { stream, decide, calls, recorded } = start(upstream(whole))
  const content = { kind: 'text', segments: ['masked'] } as const
  decide({ action: 'allow', decisionId: 'd1', content })
  const reply = await stream
  expect(await reply.next()).toContain('masked')
  while ((await reply.next()) !== undefined);
  await recorded
  expect(calls).toMatchObject([
    { succeeded: true, usage: { promptTokens: 3, output: 5 }, billingModifiers: ['fast'] },
  ])
})

test('a caller that leaves after the decision does not count as read on', async () => {
  const left = new AbortController()
  const { stream, decide, drains } = start(upstream(whole), { left })
  decide()
  await stream
  left.abort()
  expect(drains()).toBe(0)
})

test('a replayed reply leaves no timer behind', async () => {
  jest.useFakeTimers()
  const { stream, decide, recorded } = start(upstream(whole))
  decide()
  const reply = await stream
  while ((await reply.next()) !== undefined);
  expect(await recorded).toMatchObject({ outcome: 'success' })
  expect(jest.getTimerCount()).toBe(0)
})

test('the call of a provider that fails in its own way is broken off', async () => {
  async function* failing(): AsyncGenerator<readonly StreamEvent[]> {
    yield [chunk('a')]
    throw new TypeError('no reader')
  }
  const { stream, signal, calls } = start(failing())
  await expect(stream).rejects.toMatchObject({ error: { code: 'upstream_transport' } })
  expect(signal.aborted).toBe(true)
  expect(calls).toMatchObject([{ succeeded: false, usage: { output: 5, doubt: 'stream_error' } }])
})

/** A text event without counters. */
const word = streamEvent(
  JSON.stringify({ choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: null }] }),
)

/** Reports its counters when its call is aborted. */
function countsAtLast(first: readonly StreamEvent[]) {
  return async function* (signal: AbortSignal): AsyncGenerator<readonly StreamEvent[]> {
    yield first
    if (!signal.aborted) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    yield [chunk('')]
  }
}

test.each([
  ['is too large', upstream(whole), 10],
  [
    'tells an error of its upstream',
    upstream([[streamEvent('{"error":{"message":"no"}}')]]),
    10_000,
  ],
])('a stream that %s is left', async (_, sound, bufferBytes) => {
  const inner = sound[Symbol.asyncIterator]()
  let left = 0
  const events = {
    [Symbol.asyncIterator]: () => ({
      next: () => inner.next(),
      async return() {
        left += 1
        return { done: true as const, value: undefined }
      },
    }),
  }
  await expect(start(events, { bufferBytes }).stream).rejects.toThrow()
  expect(left).toBe(1)
})

test('a reply that is too large is charged by the provider’s counters', async () => {
  const large = start(countsAtLast([word]), { bufferBytes: 10 })
  await expect(large.stream).rejects.toMatchObject({
    error: { code: 'guarded_response_too_large' },
  })
  expect(large.calls).toMatchObject([{ succeeded: true, usage: { output: 5 } }])
  const counted = start(silent([[chunk('all at once')]]), { bufferBytes: 10 })
  await expect(counted.stream).rejects.toMatchObject({ attempt: { status: 'stream_error' } })
  expect(counted.calls).toMatchObject([{ succeeded: true, usage: { output: 5 } }])
})

test('the provider’s counters are charged if the caller has left', async () => {
  const left = new AbortController()
  left.abort()
  const { stream, calls } = start(countsAtLast([word]), { left })
  await expect(stream).rejects.toMatchObject({ attempt: { status: 'client_abort' } })
  expect(calls).toMatchObject([{ succeeded: true, usage: { output: 5, doubt: 'client_abort' } }])
})

test('counters that a provider sends after its error are charged', async () => {
  const event = (type: string, members: object) =>
    streamEvent(JSON.stringify({ type, ...members }), type)
  const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 }
  const error = event('error', { code: 'busy', message: 'no' })
  const failed = event('response.failed', { response: { status: 'failed', usage } })
  const { stream, calls } = start(upstream([[error], [failed]]), { dialect: 'responses' })
  await expect(stream).rejects.toMatchObject({ attempt: { status: 'stream_error' } })
  expect(calls).toMatchObject([{ succeeded: false, usage: { output: 5, doubt: 'stream_error' } }])
})

/** A stream whose decision takes so long that its headers have been sent. */
async function late(events: AsyncIterable<readonly StreamEvent[]>) {
  jest.useFakeTimers()
  const { stream, ...rest } = start(events)
  for (let n = 0; n < 50; n++) await Promise.resolve()
  await new Promise<void>((resolve) => setImmediate(resolve))
  jest.advanceTimersByTime(15_001)
  const waiting = await stream
  jest.useRealTimers()
  return { waiting, ...rest }
}

test('a caller that leaves during a long decision is charged and logged', async () => {
  const { waiting, decide, calls, recorded } = await late(upstream(whole))
  waiting.cancel()
  decide()
  expect(await recorded).toMatchObject({ outcome: 'client_abort' })
  expect(calls).toMatchObject([{ succeeded: true, usage: { output: 5 } }])
})

test('a caller that leaves after a late decision is logged', async () => {
  const { waiting, decide, calls, recorded } = await late(upstream(whole))
  decide()
  let text: string | undefined
  while (text?.includes('"a"') !== true) text = await waiting.next()
  waiting.cancel()
  expect(await recorded).toMatchObject({ outcome: 'client_abort' })
  expect(calls).toMatchObject([{ succeeded: true, usage: { output: 5 } }])
})

test('a late denial is sent once, and ends the stream', async () => {
  const { waiting, decide } = await late(upstream(whole))
  decide({ action: 'deny', decisionId: 'd1', reasonCode: 'r', message: 'no' })
  let text: string | undefined
  while (text?.includes('guardrail_denied') !== true) text = await waiting.next()
  expect(await waiting.next()).toBeUndefined()
  expect(await waiting.next()).toBeUndefined()
})
