import { expect, test } from 'bun:test'
import { type BudgetSettings, isExhausted, isLow } from './budget.ts'

const hard: BudgetSettings = {
  cadence: 'daily',
  amountPicoUsd: 1_000_000n,
  hardLimit: true,
  unpriced: 'allow',
  timezone: 'UTC',
}
const soft = { ...hard, hardLimit: false }
const spent = (amount: bigint, rejected = 0n) => ({ spent: amount, rejected })

test('little is left of a budget at 20 %, and not at a pico-USD more', () => {
  expect(isLow(hard, spent(799_999n))).toBe(false)
  expect(isLow(hard, spent(800_000n))).toBe(true)
  expect(isLow(hard, spent(700_000n, 100_000n))).toBe(true)
  expect(isLow(soft, spent(700_000n, 100_000n))).toBe(false)
})

test('only a hard limit is ever exhausted, and only by the last pico-USD', () => {
  expect(isExhausted(hard, spent(999_999n))).toBe(false)
  expect(isExhausted(hard, spent(1_000_000n))).toBe(true)
  expect(isExhausted(soft, spent(2_000_000n))).toBe(false)
})
