import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { picoUsd, usd } from '../_shared/money.ts'
import { cadences, dayText, startOfDay, utcDay, windowOf } from './window.ts'

const window = (cadence: 'daily' | 'weekly' | 'monthly', iso: string) => {
  const { start, end } = windowOf(cadence, utcDay(new Date(iso)))
  return [start, end].map(dayText)
}

test('windows begin at midnight, on Mondays and on the first, in UTC', () => {
  expect(window('daily', '2026-03-31T23:59:59.999Z')).toEqual(['2026-03-31', '2026-04-01'])
  expect(window('daily', '2026-04-01T00:00:00Z')).toEqual(['2026-04-01', '2026-04-02'])
  expect(window('weekly', '2026-03-29T23:59:59.999Z')).toEqual(['2026-03-23', '2026-03-30'])
  expect(window('weekly', '2026-03-30T00:00:00Z')).toEqual(['2026-03-30', '2026-04-06'])
  expect(window('monthly', '2028-02-29T12:00:00Z')).toEqual(['2028-02-01', '2028-03-01'])
  expect(window('monthly', '2026-12-31T23:59:59.999Z')).toEqual(['2026-12-01', '2027-01-01'])
})

test('every day is in exactly one window of a kind, and windows follow each other', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...cadences),
      fc.integer({ min: -9000, max: 40_000 }),
      (kind, day) => {
        const { start, end } = windowOf(kind, day)
        expect(start <= day && day < end).toBe(true)
        expect(windowOf(kind, start)).toEqual({ start, end })
        expect(windowOf(kind, end - 1)).toEqual({ start, end })
        expect(windowOf(kind, end).start).toBe(end)
        const first = startOfDay(start)
        if (kind === 'weekly') expect(first.getUTCDay()).toBe(1)
        if (kind === 'monthly') expect(first.getUTCDate()).toBe(1)
      },
    ),
  )
})

test('amounts are exact in both directions', () => {
  expect(picoUsd('0.01')).toBe(10_000_000_000n)
  expect(picoUsd('999999999999.999999999999')).toBe(999999999999999999999999n)
  expect(usd(0n)).toBe('0')
  expect(usd(10n)).toBe('0.00000000001')
  expect(usd(2_500_000_000_000n)).toBe('2.5')
  expect(usd(-50_000_000_000n)).toBe('-0.05')
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n }), (amount) => {
      expect(picoUsd(usd(amount))).toBe(amount)
    }),
  )
})
