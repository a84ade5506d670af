import { fullGC } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { eventually } from '../../test/harness/gateway.ts'
import { speaking } from '../../test/harness/surfaces.ts'
import {
  type ExchangeRecord,
  GatewayError,
  type Settlement,
  type SettlementRequest,
  type StreamEvent,
  streamEvent,
} from '../plugin/index.ts'
import { beginAttempt } from './attempt.ts'
import { chunk, silent, upstream, whole } from './chat-events.fixture.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { openStream } from './execute.ts'
import { replyStream } from './stream.ts'

const cut = [[chunk('a')], [chunk('b')]]

/** A stream for a caller; `settled` and `recorded` are its outcome. */
function start(
  events: AsyncIterable<readonly StreamEvent[]>,
  settle: (call: SettlementRequest) => Promise<Settlement> = async () => ({ kind: 'none' }),
  dialect = 'chat_completions',
  compatShape?: boolean,
  { drainMs = 0, idleMs = 10_000, maxResponseBytes = 1000 } = {},
) {
  const calls: SettlementRequest[] = []
  const { promise: recorded, resolve } = Promise.withResolvers<ExchangeRecord>()
  const services = {
    accounting: {
      settle(call: SettlementRequest) {
        calls.push(call)
        return settle(call)
      },
      abortDrainMs: () => drainMs,
    },
    recorders: [{ record: resolve, streamEventLimit: () => 2 }],
    fault() {},
  } as unknown as LifecycleServices
  const admitted = {
    requestId: 'r1',
    ...speaking(dialect),
    read: { stream: true },
    model: { id: 'mine' },
    executionModel: { id: 'mine' },
    provider: { id: 'p', type: 'p', timeouts: { totalMs: 10_000, idleMs }, maxResponseBytes },
    route: { spec: {}, bound: { pricing: {}, compatShape } },
    lease: { runtime: { configVersion: 'v1' }, release() {} },
    trace: { finished() {} },
    callerLeft: () => new AbortController().signal,
    headers: {},
    dispatchedAt: new Date(),
  } as unknown as Admitted
  const attempt = beginAttempt(admitted, services)
  attempt.watchdog.alive()
  const billingModifiers = ['fast']
  const result = { kind: 'stream', events, billingModifiers } as const
  const stream = replyStream(
    admitted,
    { attempt, result, told: openStream(admitted, compatShape === true) },
    [],
    services,
  )
  async function rest() {
    let text = ''
    for (let piece = await stream.next(); piece !== undefined; piece = await stream.next()) {
      text += piece
    }
    return text
  }
  return { stream, rest, calls, recorded, signal: attempt.watchdog.signal }
}

test('keeps only the text of events for recorders, not the parsed data', async () => {
  const delta = { role: 'assistant', content: 'a' }
  const choices = [{ index: 0, delta, finish_reason: null }]
  const head = { id: 'c', object: 'chat.completion.chunk', created: 1 }
  const asSent = JSON.stringify({ ...head, model: 'mine', choices, usage: null })
  let parsed: WeakRef<object> | undefined
  function first(): StreamEvent {
    const event = streamEvent(asSent)
    parsed = new WeakRef(event.json() as object)
    return event
  }
  async function* events(): AsyncGenerator<readonly StreamEvent[]> {
    yield [first()]
    for (let n = 0; n < 20; n++) yield [chunk(`b${n}`)]
    yield* silent([])
  }
  const { stream, recorded } = start(events())
  for (let n = 0; n < 21; n++) expect(await stream.next()).toContain('"choices"')
  await eventually(async () => {
    fullGC()
    return parsed?.deref() === undefined ? 'freed' : undefined
  }, 2000)
  stream.cancel()
  const { response } = await recorded
  const kept = response.kind === 'stream' ? response.events : []
  expect(kept[0]?.data).toBe(asSent)
})

test('no more of a stream is kept for recorders than a buffered reply may have', async () => {
  const { rest, recorded } = start(upstream(whole), undefined, undefined, undefined, {
    maxResponseBytes: 1,
  })
  await rest()
  expect(await recorded).toMatchObject({ response: { events: [{}], eventCount: 3 } })
})

test('the last event waits until the call is settled', async () => {
  const gate = Promise.withResolvers<Settlement>()
  const { stream, calls, recorded } = start(upstream(whole), () => gate.promise)
  expect(await stream.next()).toContain('"a"')
  expect(await stream.next()).toContain('"b"')
  let last: string | undefined
  const ended = stream.next().then((text) => {
    last = text
  })
  while (calls.length === 0) await Bun.sleep(0)
  await Bun.sleep(0)
  expect(last).toBeUndefined()
  gate.resolve({ kind: 'none' })
  await ended
  expect(last).toBe('data: [DONE]\n\n')
  expect(await stream.next()).toBeUndefined()
  expect(calls).toMatchObject([
    { succeeded: true, usage: { output: 5 }, billingModifiers: ['fast'] },
  ])
  expect(calls[0]?.usage).not.toHaveProperty('doubt')
  expect(await recorded).toMatchObject({
    statusCode: 200,
    outcome: 'success',
    usage: { output: 5 },
    settlement: { kind: 'none' },
    attempts: [{ status: 'success' }],
    invokedToolCount: 0,
    response: { kind: 'stream', events: [{}, {}], eventCount: 3, error: undefined },
  })
})

test.each([
  [true, 2],
  [undefined, 1],
])('counters are sent as the upstream sends them, or at the end: %p', async (compat, times) => {
  const { rest } = start(upstream(whole), undefined, 'chat_completions', compat)
  expect((await rest()).match(/"completion_tokens":5/g)).toHaveLength(times)
})

test('a call that cannot be settled ends with an error instead of its last event', async () => {
  const away = new GatewayError('store_unavailable', 'away')
  const { rest, recorded } = start(upstream(whole), () => Promise.reject(away))
  const text = await rest()
  expect(text).toContain('"store_unavailable"')
  expect(text).not.toContain('data: [DONE]')
  expect(await recorded).toMatchObject({
    outcome: 'internal_error',
    errorCode: 'store_unavailable',
    response: { eventCount: 2 },
  })
})

test('a stream that breaks off is a failed call with doubtful counters', async () => {
  const { rest, calls, recorded } = start(upstream(cut))
  const text = await rest()
  expect(text).toContain('premature end')
  expect(text).not.toContain('data: [DONE]')
  expect(calls).toMatchObject([{ succeeded: false, usage: { output: 5, doubt: 'stream_error' } }])
  expect(await recorded).toMatchObject({
    outcome: 'upstream_error',
    attempts: [{ status: 'stream_error', errorCode: 'upstream_transport' }],
  })
})

test.each([
  ['the failure that follows it', upstream, ['response.failed']],
  ['nothing, when the upstream says no more', silent, []],
] as const)('reports an error of a responses stream, and %s', async (_, source, more) => {
  const event = (type: string, members: object) =>
    streamEvent(JSON.stringify({ type, ...members }), type)
  const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 }
  const error = [event('error', { code: 'busy', message: 'no' })]
  const failed = event('response.failed', { response: { status: 'failed', usage } })
  const batches = source === upstream ? [error, [failed]] : [error]
  const { rest, calls, recorded } = start(source(batches), undefined, 'responses')
  const text = await rest()
  expect(text.match(/(?<=^event: ).*/gm)).toEqual(['error', ...more])
  expect(text).not.toContain('[DONE]')
  expect(calls).toMatchObject([
    { succeeded: false, usage: source === upstream ? { output: 5 } : undefined },
  ])
  expect(await recorded).toMatchObject({
    outcome: 'upstream_error',
    attempts: [{ status: 'stream_error', errorCode: 'busy' }],
  })
})

test('a complete stream of a caller that left is charged exactly', async () => {
  const { stream, calls, recorded } = start(upstream(whole))
  await stream.next()
  stream.cancel()
  expect(await stream.next()).toBeUndefined()
  expect(await recorded).toMatchObject({
    outcome: 'client_abort',
    attempts: [{ status: 'client_abort' }],
  })
  expect(calls).toMatchObject([{ succeeded: true, usage: { output: 5 } }])
  expect(calls[0]?.usage).not.toHaveProperty('doubt')
})

test.each([
  ['breaks off', upstream],
  ['goes on for too long', silent],
])('of a caller that has left, one that %s is charged by its counters so far', async (_, give) => {
  const { stream, calls, recorded, signal } = start(give(cut))
  await stream.next()
  stream.cancel()
  stream.cancel()
  expect(await recorded).toMatchObject({
    outcome: 'client_abort',
    attempts: [{ status: 'client_abort' }],
  })
  expect(calls).toMatchObject([{ succeeded: true, usage: { output: 5, doubt: 'client_abort' } }])
  expect(signal.aborted).toBe(true)
})

test('an aborted call is charged by the counters of its provider', async () => {
  const over = Promise.withResolvers<void>()
  const event = (members: object) => streamEvent(JSON.stringify({ model: 'mine', ...members }))
  async function* counting() {
    yield [event({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] })]
    await over.promise
    const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
    yield [event({ choices: [], usage })]
  }
  const { stream, calls, recorded, signal } = start(counting())
  signal.addEventListener('abort', () => over.resolve())
  await stream.next()
  stream.cancel()
  await recorded
  expect(calls).toMatchObject([{ succeeded: true, usage: { output: 5, doubt: 'client_abort' } }])
})

test('a caller that is slow to read is not the silence of its provider', async () => {
  const { stream, rest, recorded } = start(upstream(whole), undefined, undefined, undefined, {
    idleMs: 20,
  })
  expect(await stream.next()).toContain('"a"')
  await Bun.sleep(60)
  expect(await rest()).toContain('data: [DONE]')
  expect(await recorded).toMatchObject({ outcome: 'success' })
})

test('streams that have been read on for callers that left make room for others', async () => {
  for (let n = 0; n < 1000; n++) {
    const { stream, recorded } = start(upstream(whole))
    stream.cancel()
    await recorded
  }
  async function* slow() {
    for (const batch of whole) {
      await Bun.sleep(5)
      yield batch
    }
  }
  const { stream, calls, recorded } = start(slow(), undefined, undefined, undefined, {
    drainMs: 5000,
  })
  stream.cancel()
  await recorded
  expect(calls[0]?.usage).not.toHaveProperty('doubt')
})

test('a caller that leaves while the call is being settled has had its reply', async () => {
  const gate = Promise.withResolvers<Settlement>()
  const { stream, calls, recorded } = start(upstream(whole), () => gate.promise)
  await stream.next()
  await stream.next()
  const last = stream.next()
  while (calls.length === 0) await Bun.sleep(0)
  stream.cancel()
  gate.resolve({ kind: 'none' })
  await last
  expect(await recorded).toMatchObject({ outcome: 'success', attempts: [{ status: 'success' }] })
})

test('a caller that is refused is sent the refusal; the provider has done its work', async () => {
  const { stream, calls, recorded } = start(upstream(whole))
  stream.cancel(new GatewayError('internal_error', 'a middleware failed'))
  expect(await recorded).toMatchObject({
    statusCode: 500,
    outcome: 'internal_error',
    errorCode: 'internal_error',
    attempts: [{ status: 'success' }],
    response: { kind: 'buffered' },
  })
  expect(calls).toMatchObject([{ succeeded: true }])
})

test('a caller that leaves during a read is charged once', async () => {
  const end = Promise.withResolvers<void>()
  async function* events(): AsyncGenerator<readonly StreamEvent[]> {
    yield* whole.slice(0, 2)
    await end.promise
  }
  const { stream, calls, recorded } = start(events(), undefined, undefined, undefined, {
    drainMs: 10_000,
  })
  await stream.next()
  await stream.next()
  const asked = stream.next()
  stream.cancel()
  end.resolve()
  await asked
  await recorded
  await Bun.sleep(1)
  expect(calls).toHaveLength(1)
})

test('errors of a provider’s stream after its end or error are ignored', async () => {
  async function* complete(): AsyncGenerator<readonly StreamEvent[]> {
    yield* whole
    throw new Error('the connection broke')
  }
  const one = start(complete())
  await one.rest()
  expect(await one.recorded).toMatchObject({ outcome: 'success' })
  let ended = false
  async function* failing(): AsyncGenerator<readonly StreamEvent[]> {
    try {
      yield [chunk('a')]
      yield [streamEvent(JSON.stringify({ error: { message: 'broke' } }))]
      yield []
      yield [chunk('b')]
    } finally {
      ended = true
      // biome-ignore lint/correctness/noUnsafeFinally: a provider may do so
      throw new Error('the connection broke')
    }
  }
  const other = start(failing())
  await other.rest()
  expect(await other.recorded).toMatchObject({ outcome: 'upstream_error' })
  await Bun.sleep(1)
  expect(ended).toBe(true)
})

test('a provider that fails amid its stream, or ends when it is broken off, is charged so far', async () => {
  async function* failing(): AsyncGenerator<readonly StreamEvent[]> {
    yield [chunk('a')]
    throw new GatewayError('upstream_transport', 'the connection broke')
  }
  const one = start(failing())
  expect(await one.rest()).toContain('the connection broke')
  expect(await one.recorded).toMatchObject({ attempts: [{ status: 'stream_error' }] })
  expect(one.calls).toMatchObject([{ succeeded: false, usage: { output: 5 } }])
  let breakOff = () => {}
  async function* ending(): AsyncGenerator<readonly StreamEvent[]> {
    yield [chunk('a')]
    await new Promise<void>((resolve) => {
      breakOff = resolve
    })
  }
  const other = start(ending())
  await other.stream.next()
  void other.stream.next()
  other.signal.addEventListener('abort', () => breakOff())
  other.stream.cancel()
  expect(await other.recorded).toMatchObject({ attempts: [{ status: 'client_abort' }] })
  expect(other.calls).toMatchObject([{ succeeded: true, usage: { output: 5 } }])
})

test.each([false, true])(
  'counters in the error of a stream are charged; its caller has left: %p',
  async (left) => {
    const uncharged = { cacheRead: undefined, cacheWrite: undefined, reasoning: undefined }
    const usage = { uncachedInput: 3, output: 9, promptTokens: 3, totalTokens: 12, ...uncharged }
    async function* failing(): AsyncGenerator<readonly StreamEvent[]> {
      yield [chunk('a')]
      throw new GatewayError('upstream_transport', 'the connection broke', { usage })
    }
    const { stream, rest, calls, recorded } = start(failing())
    await stream.next()
    if (left) stream.cancel()
    await rest()
    expect(await recorded).toMatchObject({ usage: { output: 9 } })
    const doubt = left ? 'client_abort' : 'stream_error'
    expect(calls).toMatchObject([{ usage: { output: 9, doubt } }])
  },
)

test('after an invalid last batch, a call is charged by its counters so far', async () => {
  const over = Promise.withResolvers<void>()
  async function* loose(): AsyncGenerator<readonly StreamEvent[]> {
    yield [chunk('a')]
    await over.promise
    yield chunk('b') as never
  }
  const { stream, calls, recorded, signal } = start(loose())
  signal.addEventListener('abort', () => over.resolve())
  await stream.next()
  stream.cancel()
  expect(await recorded).toMatchObject({ attempts: [{ status: 'client_abort' }] })
  expect(calls).toMatchObject([{ usage: { output: 5 } }])
})

test.each([
  ['returns no promise', () => ({ done: true, value: undefined }) as never],
  [
    'throws',
    () => {
      throw new Error('closed already')
    },
  ],
])('a stream that %s when it is ended early is over', async (_, end) => {
  const events = upstream(cut.slice(0, 1))
  const iterator = { next: () => events.next(), return: end }
  const { rest, calls, recorded } = start({ [Symbol.asyncIterator]: () => iterator })
  expect(await rest()).toContain('premature end')
  expect(await recorded).toMatchObject({ attempts: [{ status: 'stream_error' }] })
  expect(calls).toMatchObject([{ usage: { output: 5 } }])
})

test('the attempt tells when the first event came, not the last', async () => {
  async function* events(): AsyncGenerator<readonly StreamEvent[]> {
    yield [chunk('a')]
    await Bun.sleep(60)
    yield* upstream(whole)
  }
  const { rest, recorded } = start(events())
  await rest()
  const [{ firstByteMs = Number.NaN, latencyMs = 0 } = {}] = (await recorded).attempts
  expect(latencyMs - firstByteMs).toBeGreaterThanOrEqual(50)
})
