import { describe, expect, test } from 'bun:test'
import type { WindowedBudget } from './budget-store.ts'
import { budgetItem } from './budget-wire.ts'
import { exhaustedBy } from './pace.ts'
import { utcDay } from './window.ts'

const day = (text: string) => utcDay(new Date(`${text}T00:00:00Z`))
const march = { start: day('2026-03-01'), end: day('2026-04-01') }
const settings = {
  cadence: 'monthly',
  amountPicoUsd: 100n,
  hardLimit: true,
  unpriced: 'allow',
  timezone: 'UTC',
} as const
const charges = (spent: bigint, rejected = 0n) => ({ spent, rejected })

/** A monthly budget of 100, with `spent` in total and `recent` in the last days. */
function by(at: string, spent: bigint, recent: bigint) {
  const use = { ...march, ...charges(spent), recent: charges(recent) }
  return exhaustedBy(settings, use, new Date(at))?.toISOString().slice(0, 16)
}

describe('the projected end of a budget', () => {
  test('uses the average of the last seven days, including today so far', () => {
    // 6.5 days at 6 per day; 39 remain.
    expect(by('2026-03-10T12:00:00Z', 61n, 39n)).toBe('2026-03-17T00:00')
  })

  test('ends by the average since the start of a window that is younger', () => {
    expect(by('2026-03-03T00:00:00Z', 20n, 20n)).toBe('2026-03-11T00:00')
  })

  test('ends by a full hour', () => {
    expect(by('2026-03-03T00:00:01Z', 20n, 20n)).toBe('2026-03-11T01:00')
  })

  test.each([
    ['where spend is flat', 50n, 0n],
    ['when nothing is left', 100n, 40n],
    ['when it lasts until the window ends', 7n, 7n],
    ['when it lasts until then to the hour', 57n, 13n],
  ])('has no date %s', (_, spent, recent) => {
    expect(by('2026-03-10T12:00:00Z', spent, recent)).toBeUndefined()
  })

  test('is not judged by the first seconds of a window', () => {
    expect(by('2026-03-01T00:00:01Z', 1n, 1n)).toBe('2026-03-05T04:00')
  })

  test('has lost rejected charges to a hard limit, and not to a soft one', () => {
    const use = { ...march, ...charges(10n, 10n), recent: charges(10n, 10n) }
    const at = new Date('2026-03-02T00:00:00Z')
    expect(exhaustedBy(settings, use, at)).toEqual(new Date('2026-03-06T00:00:00Z'))
    const soft = { ...settings, hardLimit: false }
    expect(exhaustedBy(soft, use, at)).toEqual(new Date('2026-03-11T00:00:00Z'))
  })

  test.each([true, false])('has a date while it is active, active: %p', (active) => {
    const at = new Date('2026-03-03T00:00:00Z')
    const budget: WindowedBudget = {
      budgetId: 'b',
      scopeKey: 'k',
      scope: { kind: 'user', userId: 'u1' },
      source: 'manual',
      active,
      settings,
      createdAt: at,
      updatedAt: at,
      window: { ...march, ...charges(20n), recent: charges(20n) },
    }
    const item = budgetItem(budget, { users: [], serviceAccounts: [] }, at)
    expect(item.projected_exhaustion_at).toBe(active ? '2026-03-11T00:00:00.000Z' : null)
  })
})
