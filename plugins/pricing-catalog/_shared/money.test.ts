import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { picoUsd, shownPrice } from './money.ts'

test('a price per million tokens is an integer per token, up to the sixth decimal', () => {
  expect(picoUsd('input', '5')).toBe(5_000_000n)
  expect(picoUsd('input', '0.0088')).toBe(8_800n)
  expect(picoUsd('input', '0.000001')).toBe(1n)
  expect(picoUsd('input', '0.500000000')).toBe(500_000n)
  expect(picoUsd('input', '0')).toBe(0n)
  expect(picoUsd('input', '999999999999.999999')).toBe(999_999_999_999_999_999n)
})

test('a price finer than a pico-USD per token, or not a plain decimal, is not a rate', () => {
  for (const text of ['0.0000001', '0.08333333333333334', '7.5e-8', '-1', '1.', '.5', '', 'NaN']) {
    expect(picoUsd('input', text)).toBeUndefined()
  }
})

test('for every integer of micro-USD the rate is that integer', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 17n }), (micro) => {
      const digits = micro.toString().padStart(7, '0')
      const text = `${digits.slice(0, -6)}.${digits.slice(-6)}`
      expect(picoUsd('input', text)).toBe(micro)
    }),
  )
})

test('an integer per token is shown as its original plain decimal', () => {
  const written = ['0', '5', '10', '0.0088', '0.000001', '2.5', '100.05', '999999999999.999999']
  for (const text of written) {
    expect(shownPrice('input', picoUsd('input', text) as bigint)).toBe(text)
  }
})

test('a price per thousand pieces is an integer per piece, up to the ninth decimal', () => {
  expect(picoUsd('web_search', '10')).toBe(10_000_000_000n)
  expect(picoUsd('request', '0.000000001')).toBe(1n)
  expect(picoUsd('request', '0.0000000001')).toBeUndefined()
  expect(shownPrice('request', 12_500_000_000n)).toBe('12.5')
})
