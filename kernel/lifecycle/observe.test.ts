import { describe, expect, test } from 'bun:test'
import type { ExchangeRecord, Follower, ObservedCall, Observer } from '../plugin/index.ts'
import { createObservation } from './observe.ts'

const CALLERS = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const OWN = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01'
const CALL = {} as ObservedCall
const EXCHANGE = {} as ExchangeRecord

/** Notifies observers of a request, and keeps reported faults. */
function follow(observers: readonly Observer[], traceparent: string | null = CALLERS) {
  const faults: string[] = []
  const named = observers.map((observer, n) => ({ plugin: `plugin.${n}`, observer }))
  const observe = createObservation(named, (plugin, error, requestId) => {
    faults.push(`${plugin} ${requestId} ${(error as Error).message}`)
  })
  const request = {
    requestId: 'r',
    receivedAt: new Date(),
    startedAt: performance.now(),
    header: (name: string) => (name === 'traceparent' ? traceparent : null),
  }
  return { trace: observe(request), faults }
}
const observer = (follower: Follower | undefined): Observer => ({ observe: () => follower })
const fail = (what: string) => () => {
  throw new Error(what)
}

describe("the caller's trace context goes upstream as it is", () => {
  test.each([
    ['without an observer', []],
    ['when an observer follows nothing', [observer(undefined)]],
    ['when an observer gives none', [observer({}), observer({ providerCalled: () => undefined })]],
  ])('%s', (_, observers) => {
    expect(follow(observers).trace.providerCalled(CALL)).toBe(CALLERS)
    expect(follow(observers, 'nonsense').trace.providerCalled(CALL)).toBeUndefined()
    expect(follow(observers, null).trace.providerCalled(CALL)).toBeUndefined()
  })
})

test('calls every observer, and sends the first trace context upstream', () => {
  const told: string[] = []
  const names = ['a', 'b', 'c']
  const given = [undefined, OWN, CALLERS]
  const { trace, faults } = follow(
    names.map((name, n) =>
      observer({
        providerCalled() {
          told.push(`${name} called`)
          return given[n]
        },
        finished: () => void told.push(`${name} finished`),
      }),
    ),
  )
  expect(trace.providerCalled(CALL)).toBe(OWN)
  trace.finished(EXCHANGE)
  expect(told).toEqual([
    ...names.map((name) => `${name} called`),
    ...names.map((name) => `${name} finished`),
  ])
  expect(faults).toEqual([])
})

test('reports a fault of an observer without affecting the request or other observers', async () => {
  const told: string[] = []
  const { trace, faults } = follow([
    { observe: fail('at the door') },
    observer({ providerCalled: fail('at the call'), finished: fail('at the end') }),
    observer({
      providerCalled: () => 'a\r\nb: c',
      finished: (async () => fail('after the end')()) as () => void,
    }),
    observer({ providerCalled: () => OWN, finished: () => void told.push('finished') }),
  ])
  expect(trace.providerCalled(CALL)).toBe(OWN)
  trace.finished(EXCHANGE)
  await Bun.sleep(0)
  expect(told).toEqual(['finished'])
  expect(faults).toEqual([
    'plugin.0 r at the door',
    'plugin.1 r at the call',
    'plugin.2 r "a\\r\\nb: c" is not a valid traceparent',
    'plugin.1 r at the end',
    'plugin.2 r after the end',
  ])
})
