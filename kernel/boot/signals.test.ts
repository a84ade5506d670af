import { expect, test } from 'bun:test'
import { unlessAborted } from './signals.ts'

const LONG_MS = 60_000

/** The outcome of the work: its result, or the reason or message of its failure. */
const outcome = (
  signal: AbortSignal,
  patienceMs: number,
  work: () => Promise<string>,
): Promise<string> =>
  unlessAborted(signal, patienceMs, work).catch((error) => `${error.message ?? error}`)

test('returns the outcome of the work if no signal arrives', async () => {
  const { signal } = new AbortController()
  expect(await outcome(signal, 0, async () => 'done')).toBe('done')
  expect(await outcome(signal, 0, () => Promise.reject(new Error('failed')))).toBe('failed')
})

test('work is not begun after the signal', async () => {
  let begun = false
  const signal = AbortSignal.abort('SIGTERM')
  const work = async () => {
    begun = true
    return 'done'
  }
  expect([await outcome(signal, LONG_MS, work), begun]).toEqual(['SIGTERM', false])
})

test('waits for running work to end, then rejects with the reason of the signal', async () => {
  const ending = new AbortController()
  const running = Promise.withResolvers<string>()
  const over = outcome(ending.signal, LONG_MS, () => running.promise)
  ending.abort('SIGTERM')
  await Bun.sleep(5)
  expect(Bun.peek.status(over)).toBe('pending')
  running.resolve('done')
  expect(await over).toBe('SIGTERM')
})

test('does not wait for work beyond the patience', async () => {
  const ending = new AbortController()
  const over = outcome(ending.signal, 5, () => new Promise(() => {}))
  ending.abort('SIGINT')
  expect(await over).toBe('SIGINT')
})
