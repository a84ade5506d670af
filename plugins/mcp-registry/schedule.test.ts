import { expect, test } from 'bun:test'
import { dueSlot, scheduleProblem } from './schedule.ts'

test.each(['off', '0 3 * * *', '*/5 * * * *', '0 0 1 1 *'])('%s is a schedule', (text) => {
  expect(scheduleProblem(text)).toBeUndefined()
})

test.each(['', 'on', '* * *', '* * * * * *', '61 * * * *', '@daily', '0 0 31 2 *'])(
  '%j is none',
  (text) => {
    expect(scheduleProblem(text)).toBeString()
  },
)

test('a slot is due once, when its time has come', () => {
  const at = (text: string) => new Date(`2026-03-01T${text}Z`)
  const due = (after: string, now: string) => dueSlot('0 3 * * *', at(after), at(now))
  expect(due('02:00:00', '02:59:59')).toBeUndefined()
  expect(due('02:00:00', '03:00:00')).toEqual(at('03:00:00'))
  expect(due('02:59:50', '03:00:10')).toEqual(at('03:00:00'))
  expect(due('03:00:00', '03:00:10')).toBeUndefined()
  expect(dueSlot('off', at('00:00:00'), at('23:00:00'))).toBeUndefined()
})
