import { afterEach, expect, jest, test } from 'bun:test'
import type {
  ExchangeRecord,
  GuardVerdict,
  Settlement,
  SettlementRequest,
  StreamEvent,
} from '../plugin/index.ts'
import { beginAttempt } from './attempt.ts'
import { chunk, silent, upstream, whole } from './chat-events.fixture.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { guardedStream } from './guarded-stream.ts'

/** A guarded stream; `decide` lets it pass. */
function start(
  events: AsyncIterable<readonly StreamEvent[]>,
  { left = new AbortController(), bufferBytes = 10_000 } = {},
) {
  const calls: SettlementRequest[] = []
  const verdict = Promise.withResolvers<GuardVerdict>()
  const recorded = Promise.withResolvers<ExchangeRecord>()
  const services = {
    accounting: {
      async settle(call: SettlementRequest): Promise<Settlement> {
        calls.push(call)
        return { kind: 'none' }
      },
      abortDrainMs: () => 0,
    },
    recorders: [{ record: recorded.resolve }],
    fault() {},
  } as unknown as LifecycleServices
  const guard = {
    covers: (phase: string) => phase === 'model_response',
    inspect: () => verdict.promise,
    streamBufferBytes: bufferBytes,
  }
  const admitted = {
    requestId: 'r1',
    family: 'chat_completions',
    stream: true,
    model: { id: 'mine' },
    executionModel: { id: 'mine' },
    provider: { id: 'p', type: 'p', timeouts: { totalMs: 600_000, idleMs: 600_000 } },
    route: { spec: {}, bound: { pricing: {}, compatShape: true }, guard },
    lease: { runtime: { configVersion: 'v1' }, release() {} },
    trace: { finished() {} },
    header: () => null,
    callerLeft: () => left.signal,
  } as unknown as Admitted
  const attempt = beginAttempt(admitted, services)
  const result = { kind: 'stream', events } as const
  const stream = guardedStream(admitted, attempt, result, services, () => 'late')
  const decide = () => verdict.resolve({ action: 'allow', decisionId: 'd1' })
  const { signal } = attempt.watchdog
  return { stream, decide, calls, recorded: recorded.promise, signal }
}

afterEach(() => {
  jest.useRealTimers()
})

test('a caller who had left before the stream began has it read on no longer than others', async () => {
  const left = new AbortController()
  left.abort()
  const { stream, calls } = start(silent([[chunk('a')]]), { left })
  await expect(stream).rejects.toMatchObject({ attempt: { status: 'client_abort' } })
  expect(calls).toMatchObject([{ succeeded: true, usage: { output: 5, doubt: 'client_abort' } }])
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

test('a caller who leaves while a decision takes long is charged and logged all the same', async () => {
  jest.useFakeTimers()
  const { stream, decide, calls, recorded } = start(upstream(whole))
  for (let n = 0; n < 50; n++) await Promise.resolve()
  await new Promise<void>((resolve) => setImmediate(resolve))
  jest.advanceTimersByTime(15_001)
  const waiting = await stream
  waiting.cancel()
  jest.useRealTimers()
  decide()
  expect(await recorded).toMatchObject({ outcome: 'client_abort' })
  expect(calls).toMatchObject([{ succeeded: true, usage: { output: 5 } }])
})

test('an upstream that says no more and does not end is broken off, and what it said passes later', async () => {
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
