import { expect, test } from 'bun:test'
import { contain, DeadlineError } from './contain.ts'
import { keptLog } from './registry.fixture.ts'

const call = 'the call'

test('passes results and errors on', async () => {
  const { log, lines } = keptLog()
  expect(await contain({ call, deadlineMs: 50, log }, () => 1)).toBe(1)
  expect(await contain({ call, deadlineMs: 50, log }, async () => 2)).toBe(2)
  const boom = new Error('boom')
  const failures = [
    () => {
      throw boom
    },
    async () => {
      throw boom
    },
  ]
  for (const fail of failures) {
    expect(await contain({ call, deadlineMs: 50, log }, fail).catch((e) => e)).toBe(boom)
  }
  await Bun.sleep(60)
  expect(lines).toEqual([])
})

test('throws at the deadline and passes a late result on', async () => {
  const { log, lines } = keptLog()
  const late: number[] = []
  const slow = Promise.withResolvers<number>()
  const containment = { call, deadlineMs: 10, log, late: (n: number) => void late.push(n) }
  const error = await contain(containment, () => slow.promise).catch((e) => e)
  expect(error).toBeInstanceOf(DeadlineError)
  expect(error.message).toBe('the call did not finish within 10 ms')
  slow.resolve(7)
  await Bun.sleep(1)
  expect(late).toEqual([7])
  expect(lines.map((line) => line.msg)).toEqual(['the call finished after its deadline'])
})

test('a late failure is logged, and so is one of the clean-up', async () => {
  const unhandled: unknown[] = []
  const listener = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', listener)
  const { log, lines } = keptLog()
  const slow = Promise.withResolvers<number>()
  await contain({ call, deadlineMs: 5, log }, () => slow.promise).catch(() => {})
  slow.reject(new Error('boom'))
  const slower = Promise.withResolvers<number>()
  const late = () => Promise.reject(new Error('no clean-up'))
  await contain({ call, deadlineMs: 5, log, late }, () => slower.promise).catch(() => {})
  slower.resolve(1)
  await Bun.sleep(5)
  process.off('unhandledRejection', listener)
  expect(unhandled).toEqual([])
  expect(lines.map((line) => (line.err as Error | undefined)?.message)).toEqual([
    'boom',
    undefined,
    'no clean-up',
  ])
})
