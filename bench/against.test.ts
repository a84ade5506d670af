import { expect, test } from 'bun:test'
import { compare } from './against.ts'

/** Ten passes. Every other one is at a busy moment, so both sides take twice as long. */
function pairs(ratios: readonly number[]) {
  return ratios.map((ratio, pass) => {
    const old = pass % 2 === 0 ? 100 : 200
    return { old, new: old * ratio }
  })
}

test('compares within a pass, so a busy moment does not count', () => {
  const same = compare('G, buffered', pairs(Array(10).fill(1)))
  expect(same).toMatchObject({ old: 150, new: 150, ratio: 1, low: 1, high: 1, exceeds: false })
})

test('the interval of ten passes leaves out the lowest and the highest', () => {
  const ratios = [0.5, 0.99, 1, 1.01, 1.02, 1.04, 1.05, 1.06, 1.07, 9]
  const { ratio, low, high } = compare('G, buffered', pairs(ratios))
  expect(ratio).toBeCloseTo(1.03)
  expect(low).toBeCloseTo(0.99)
  expect(high).toBeCloseTo(1.07)
})

test('exceeds the limit only when the whole interval is above 3 %', () => {
  const exceeds = (ratios: readonly number[]) => compare('T, buffered', pairs(ratios)).exceeds
  expect(exceeds([1, ...Array(9).fill(1.04)])).toBe(true)
  expect(exceeds([1, 1, ...Array(8).fill(1.2)])).toBe(false)
  expect(exceeds(Array(10).fill(1.025))).toBe(false)
  expect(exceeds(Array(10).fill(0.9))).toBe(false)
  expect(exceeds([])).toBe(true)
})
