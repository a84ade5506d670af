import { expect, test } from 'bun:test'
import { type Attempt, createThrottle } from './throttle.ts'

const options = { free: 3, limit: 100, forgetMs: 60_000 }

/** Milliseconds to wait; 0 for an attempt that was allowed and failed. */
function fail(throttle: ReturnType<typeof createThrottle>, key: string, now: number): number {
  const begun = throttle.begin(key, now)
  return typeof begun === 'number' ? begun : 0
}

test('after some failures each further one doubles the wait, up to a minute', () => {
  const throttle = createThrottle({ ...options, forgetMs: 1e9 })
  let now = 0
  const waits: number[] = []
  for (let i = 0; i < 14; i++) {
    const wait = fail(throttle, 'ada', now)
    waits.push(wait)
    if (wait > 0) now += wait
  }
  expect(waits).toEqual([0, 0, 0, 0, 1000, 0, 2000, 0, 4000, 0, 8000, 0, 16_000, 0])
  for (let i = 0; i < 10; i++) now += fail(throttle, 'ada', now)
  expect(fail(throttle, 'ada', now)).toBe(60_000)
})

test('attempts that run at once count before they are known to fail', () => {
  const throttle = createThrottle(options)
  const begun = Array.from({ length: 50 }, () => throttle.begin('ada', 0))
  expect(begun.filter((one) => typeof one !== 'number')).toHaveLength(4)
})

test('a success forgets the failures; an attempt that was none counts for nothing', () => {
  const throttle = createThrottle(options)
  for (let i = 0; i < 3; i++) fail(throttle, 'ada', 0)
  ;(throttle.begin('ada', 0) as Attempt).forget('all')
  for (let i = 0; i < 4; i++) expect(fail(throttle, 'ada', 0)).toBe(0)
  expect(fail(throttle, 'ada', 0)).toBe(1000)

  for (let i = 0; i < 20; i++) (throttle.begin('bob', 0) as Attempt).forget('this')
  expect(fail(throttle, 'bob', 0)).toBe(0)
})

test('an attempt that was none leaves the failures before it as they were', () => {
  const throttle = createThrottle(options)
  for (let i = 0; i < 4; i++) fail(throttle, 'ada', 0)
  ;(throttle.begin('ada', 1000) as Attempt).forget('this')
  expect(fail(throttle, 'ada', 1001)).toBe(999)
  expect(fail(throttle, 'ada', 2000)).toBe(0)
  expect(fail(throttle, 'ada', 2000)).toBe(2000)
})

test('failures are forgotten after a while, and others have nothing to do with them', () => {
  const throttle = createThrottle(options)
  for (let i = 0; i < 4; i++) fail(throttle, 'ada', 0)
  expect(fail(throttle, 'ada', 1)).toBe(999)
  expect(fail(throttle, 'bob', 1)).toBe(0)
  for (let i = 0; i < 4; i++) expect(fail(throttle, 'ada', 60_001 + i)).toBe(0)
})

test('no more keys are kept than the limit', () => {
  const throttle = createThrottle(options)
  for (let i = 0; i < 4; i++) fail(throttle, 'ada', 0)
  for (let i = 0; i < 99; i++) fail(throttle, `key ${i}`, 0)
  expect(fail(throttle, 'ada', 0)).toBe(1000)
  fail(throttle, 'one more', 0)
  expect(fail(throttle, 'ada', 0)).toBe(0)
})

test('the key that failed last is kept longest', () => {
  const throttle = createThrottle(options)
  for (let i = 0; i < 4; i++) fail(throttle, 'ada', 0)
  for (let i = 0; i < 99; i++) fail(throttle, `key ${i}`, 0)
  expect(fail(throttle, 'ada', 1000)).toBe(0)
  for (let i = 0; i < 99; i++) fail(throttle, `other ${i}`, 1000)
  expect(fail(throttle, 'ada', 1000)).toBe(2000)
})

test('a clock that was set back makes no wait longer than the longest', () => {
  const throttle = createThrottle({ free: 0, limit: 10, forgetMs: 1_000_000 })
  throttle.begin('ada', 3_600_000)
  const wait = throttle.begin('ada', 0)
  expect(typeof wait === 'number' ? wait : 0).toBeLessThanOrEqual(60_000)
})
