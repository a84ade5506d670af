import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseNumbersAsText, product, sameButForRounding, shifted } from './decimal.ts'

test('shifting moves the point without losing digits', () => {
  expect(shifted('7.5e-08', 6)).toBe('0.075')
  expect(shifted('1.25e-10')).toBe('0.000000000125')
  expect(shifted('0.000283333333333', 3)).toBe('0.283333333333')
  expect(shifted('75', 3)).toBe('75000')
  expect(shifted('2E+1', 0)).toBe('20')
  expect(shifted('0.0', 6)).toBe('0')
  expect(shifted('0.50')).toBe('0.5')
  for (const none of ['-1', 'NaN', '', '1,5', '.5']) expect(shifted(none, 6)).toBeUndefined()
})

test('a shifted number is the number times the power of ten', () => {
  const digits = fc.integer({ min: 0, max: 10 ** 9 })
  const exponent = fc.integer({ min: 0, max: 18 })
  fc.assert(
    fc.property(digits, exponent, fc.integer({ min: 0, max: 9 }), (n, e, places) => {
      const text = shifted(`${n}e-${e}`, places) ?? ''
      expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
      const [whole = '', fraction = ''] = text.split('.')
      const scaled = BigInt(whole + fraction.padEnd(18, '0'))
      expect(scaled).toBe(BigInt(n) * 10n ** BigInt(18 - e + places))
    }),
  )
})

test('numbers stay as they are written', () => {
  expect(parseNumbersAsText('{"a": 1.10e-07, "b": [25e-08, true]}')).toEqual({
    a: '1.10e-07',
    b: ['25e-08', true],
  })
})

test('a price matches its rounded form', () => {
  expect(sameButForRounding('0.13', '0.125')).toBe(true)
  expect(sameButForRounding('1.875', '1.88')).toBe(true)
  expect(sameButForRounding('0.14', '0.125')).toBe(false)
  expect(sameButForRounding('2', '1.5')).toBe(false)
  expect(sameButForRounding('0.3', '0.30')).toBe(true)
})

test('products are exact', () => {
  expect(product('0.05', '1.1')).toBe('0.055')
  expect(product('25', '1.1')).toBe('27.5')
  expect(product('0.1', '10')).toBe('1')
  expect(product('0', '1.1')).toBe('0')
})
