import { expect, test } from 'bun:test'
import { createDeadline } from './deadline.ts'

const never = () => new Promise<void>(() => {})

test('with two abandoned calls, further calls are refused until one is answered', async () => {
  const deadline = createDeadline()
  const late = Promise.withResolvers<void>()
  await deadline.run(async () => {}, 60_000)
  await expect(deadline.run(() => late.promise, 1)).rejects.toThrow('no answer within 1 ms')
  await deadline.run(async () => {}, 60_000)
  await expect(deadline.run(never, 1)).rejects.toThrow('no answer')
  let made = false
  const more = () =>
    deadline.run(async () => {
      made = true
    }, 60_000)
  await expect(more()).rejects.toThrow('still unanswered')
  expect(made).toBe(false)
  late.resolve()
  await late.promise
  await Bun.sleep(1)
  await more()
  expect(made).toBe(true)
})

test('closing rejects all pending calls', async () => {
  const deadline = createDeadline()
  const waiting = [deadline.run(never, 60_000), deadline.run(never, 60_000)]
  const results = Promise.allSettled(waiting)
  deadline.expire()
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
