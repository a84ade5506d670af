import { expect, test } from 'bun:test'
import { pino } from 'pino'
import { createSchedule } from './schedule.ts'

test('a task runs again after a failure, never twice at once, and not after the abort', async () => {
  const logged: string[] = []
  const stop = new AbortController()
  const schedule = createSchedule(pino({}, { write: (line) => logged.push(line) }), stop.signal)
  let runs = 0
  let atOnce = 0
  let most = 0
  schedule.every(5, async () => {
    runs++
    most = Math.max(most, ++atOnce)
    await Bun.sleep(12)
    atOnce--
    if (runs === 1) throw new Error('first time')
  })
  while (runs < 3) await Bun.sleep(5)
  stop.abort()
  await Bun.sleep(20)
  const ended = runs
  await Bun.sleep(40)
  expect(runs).toBe(ended)
  expect(most).toBe(1)
  expect(logged.join()).toContain('first time')
})

const silent = pino({ level: 'silent' })

test.each([0, -1, Number.NaN, 30 * 86_400_000])(
  'every %d ms is refused, because a timer would run at once and without a pause',
  (ms) => {
    const stop = new AbortController()
    let runs = 0
    const begin = () => createSchedule(silent, stop.signal).every(ms, () => void runs++)
    expect(begin).toThrow(`every ${ms} ms: must be from 1 to 2147483647`)
    stop.abort()
    expect(runs).toBe(0)
  },
)

test('a task scheduled after the abort never runs', async () => {
  let runs = 0
  createSchedule(silent, AbortSignal.abort()).every(1, () => void runs++)
  await Bun.sleep(20)
  expect(runs).toBe(0)
})
