import { afterEach, expect, jest, test } from 'bun:test'
import { createWatches } from './watch.ts'

const begin = createWatches()
const never = () => new AbortController().signal
/** Longer than the interval of the watches, on a busy machine too. */
const soon = () => Bun.sleep(300)

test('a call that is over before anybody looks never asks for the signal of its request', async () => {
  let asked = 0
  const watch = begin(() => {
    asked++
    return never()
  })
  watch.stop()
  await soon()
  expect(asked).toBe(0)
})

test('a caller who has left, or leaves later, ends the call; listeners hear of it first', async () => {
  for (const leavesFirst of [true, false]) {
    const caller = new AbortController()
    const watch = begin(() => caller.signal)
    const heard: boolean[] = []
    watch.whenLeft(() => heard.push(watch.upstream.signal.aborted))
    if (!leavesFirst) await soon()
    caller.abort()
    expect(watch.hasLeft()).toBe(true)
    if (leavesFirst) await soon()
    expect(watch.upstream.signal.aborted).toBe(true)
    expect(heard).toEqual([false])
  }
})

test('a limit ends the call with its error, unless it is lifted or the call has ended', async () => {
  const late = new Error('late')
  const [limited, lifted, stopped] = [begin(never), begin(never), begin(never)]
  for (const watch of [limited, lifted, stopped]) watch.limit(20, () => late)
  lifted.lift()
  stopped.stop()
  await soon()
  expect(limited.upstream.signal.reason).toBe(late)
  expect([lifted, stopped].map(({ upstream }) => upstream.signal.aborted)).toEqual([false, false])
  for (const watch of [limited, lifted]) watch.stop()
})

afterEach(() => {
  jest.useRealTimers()
})

test('without running calls the timer stops', () => {
  jest.useFakeTimers()
  const watch = createWatches()(never)
  jest.advanceTimersByTime(1000)
  expect(jest.getTimerCount()).toBe(1)
  watch.stop()
  jest.advanceTimersByTime(1000)
  expect(jest.getTimerCount()).toBe(0)
})
