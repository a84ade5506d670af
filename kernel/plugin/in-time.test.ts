import { expect, test } from 'bun:test'
import { inTime } from './in-time.ts'

test('returns the value of work that ends in time, even undefined', async () => {
  expect(await inTime(Promise.resolve(undefined), 1000)).toEqual({ value: undefined })
  await expect(inTime(Promise.reject(new Error('no')), 1000)).rejects.toThrow('no')
})

test('ignores work that takes too long, even if it fails later', async () => {
  const { promise, reject } = Promise.withResolvers<never>()
  expect(await inTime(promise, 5)).toBeUndefined()
  reject(new Error('late'))
  await Bun.sleep(1)
})

test('a signal is a limit as well, also when it had aborted before', async () => {
  const never = new Promise<never>(() => {})
  expect(await inTime(never, AbortSignal.abort())).toBeUndefined()
  const limit = new AbortController()
  const waited = inTime(never, limit.signal)
  limit.abort()
  expect(await waited).toBeUndefined()
  expect(await inTime(Promise.resolve(1), new AbortController().signal)).toEqual({ value: 1 })
})
