import { expect, test } from 'bun:test'
import { leftText, usedShare } from './budgets.ts'

test('the text says what is left, or how much is over the limit', () => {
  expect(['2.5', '0', '-0.00015'].map(leftText)).toEqual([
    '$2.50 left',
    '$0.00 left',
    '$0.00015 over',
  ])
})

test('a budget of zero is fully used', () => {
  const budget = (amount_usd: string, remaining_usd: string) => ({
    settings: {
      cadence: 'daily',
      amount_usd,
      hard_limit: true,
      unpriced: 'allow',
      timezone: 'UTC',
    } as const,
    remaining_usd,
  })
  expect([budget('0', '0'), budget('4', '1'), budget('4', '-1')].map(usedShare)).toEqual([
    1, 0.75, 1.25,
  ])
})
