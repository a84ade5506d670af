import { expect, test } from 'bun:test'
import { speaking } from '../../test/harness/surfaces.ts'
import {
  type Execute,
  GatewayError,
  type ProviderCall,
  type ProviderResult,
  type StreamResult,
  streamEvent,
} from '../plugin/index.ts'
import { beginAttempt } from './attempt.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'

/** An attempt with this result of the provider, and the lines of the operator's log. */
function begin(execute: Execute, { stream = false, totalMs = 10_000 } = {}) {
  const logged: string[] = []
  const services = { fault: (message: string) => logged.push(message) } as unknown
  const admitted = {
    requestId: 'r1',
    ...speaking('chat_completions', execute),
    read: { stream },
    call: { body: {} },
    provider: { id: 'p', type: 'p', timeouts: { totalMs, idleMs: 10_000 } },
    route: { spec: {}, bound: { execute: {} } },
    trace: { providerCalled: () => undefined },
    callerLeft: () => new AbortController().signal,
  } as unknown as Admitted
  return { attempt: beginAttempt(admitted, services as LifecycleServices), logged }
}

const answered = async (): Promise<ProviderResult> => ({ kind: 'buffered', body: {} })

test('the result of a route may be a class instance', async () => {
  class Answer {
    readonly #text: string
    constructor(text: string) {
      this.#text = text
    }
    get billingModifiers() {
      return ['priority']
    }
    get kind() {
      return 'stream' as const
    }
    get events() {
      const batch = [streamEvent(this.#text)]
      return (async function* () {
        yield batch
      })()
    }
  }
  const { attempt } = begin(async () => new Answer('hello'), { stream: true })
  const { kind, billingModifiers, events } = (await attempt.execute()) as StreamResult
  expect([kind, billingModifiers]).toEqual(['stream', ['priority']])
  expect(await Array.fromAsync(events)).toMatchObject([[{ data: 'hello' }]])
  attempt.finish('success')
})

test('a stream that cannot be begun is a call that has failed', async () => {
  const events = {
    [Symbol.asyncIterator](): never {
      throw new Error('no socket')
    },
  }
  const { attempt, logged } = begin(async () => ({ kind: 'stream', events }), { stream: true })
  await expect(attempt.execute()).rejects.toMatchObject({ code: 'upstream_transport', status: 502 })
  expect(logged).toEqual(['provider p failed'])
  attempt.finish('stream_start_error')
})

test('an aborted call fails with the reason of the abort, whatever the provider throws', async () => {
  const { attempt, logged } = begin(
    ({ signal }: ProviderCall) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('socket closed')))
      }),
  )
  const reason = new GatewayError('upstream_timeout', 'late')
  const outcome = attempt.execute().catch((error: unknown) => error)
  await Bun.sleep(5)
  attempt.watchdog.abort(reason)
  expect(await outcome).toBe(reason)
  expect(attempt.containFault(new Error('socket closed'))).toBe(reason)
  expect(logged).toEqual([])
  attempt.finish('provider_error', reason)
})

test('an answer of the other kind than was asked for is none', async () => {
  for (const stream of [true, false]) {
    const result = stream ? { kind: 'buffered', body: {} } : { kind: 'stream', events: nothing() }
    const { attempt } = begin(async () => result as ProviderResult, { stream })
    await expect(attempt.execute()).rejects.toMatchObject({ code: 'upstream_transport' })
    attempt.finish('provider_error')
  }
})

async function* nothing() {}

test('a provider knows the API of the caller; of its answer the first byte is timed', async () => {
  let surface: unknown
  const { attempt } = begin((call) => {
    surface = call.surface
    return answered()
  })
  await attempt.execute()
  expect(surface).toBe('chat_completions')
  attempt.firstByte()
  await Bun.sleep(30)
  attempt.firstByte()
  const { firstByteMs = 0, latencyMs } = attempt.finish('success')
  expect(latencyMs - firstByteMs).toBeGreaterThanOrEqual(25)
})

test('a finished attempt leaves no timer', async () => {
  const { attempt } = begin(answered, { totalMs: 20 })
  await attempt.execute()
  attempt.finish('success')
  await Bun.sleep(40)
  expect(attempt.watchdog.signal.aborted).toBe(false)
})
