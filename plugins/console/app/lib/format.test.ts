import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  ago,
  bytes,
  count,
  counted,
  date,
  dateTime,
  dayTime,
  duration,
  percent,
  short,
  usd,
  usdExact,
  usdShort,
} from './format.ts'

describe('amounts', () => {
  test('are rounded half up to cents', () => {
    expect(['0', '1', '12.345', '123456.789', '-3.5', '0.999'].map(usd)).toEqual([
      '$0.00',
      '$1.00',
      '$12.35',
      '$123,456.79',
      '-$3.50',
      '$1.00',
    ])
  })

  test('of millions are rounded half up to dollars', () => {
    expect(['1000000', '1234567.499', '-12345678.5'].map(usd)).toEqual([
      '$1,000,000',
      '$1,234,567',
      '-$12,345,679',
    ])
  })

  test('on an axis are plain decimals, however small', () => {
    expect([0, 0.0000018, 0.00012, 0.5, 1200].map(usdShort)).toEqual([
      '$0',
      '$0.0000018',
      '$0.00012',
      '$0.50',
      '$1.2k',
    ])
  })

  test('below a cent keep two significant digits', () => {
    expect(['0.05', '0.000123456', '0.000000000001', '0.5'].map(usd)).toEqual([
      '$0.05',
      '$0.00012',
      '$0.000000000001',
      '$0.50',
    ])
  })

  test('above zero are never shown as zero, and exact ones keep every digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 21n }), (pico) => {
        const digits = pico.toString().padStart(13, '0')
        const amount = `${digits.slice(0, -12)}.${digits.slice(-12)}`
        expect(usd(amount)).not.toMatch(/^\$[0.]*$/)
        const [whole = '', fraction = ''] = usdExact(amount).replaceAll(/[$,]/g, '').split('.')
        expect(BigInt(whole + fraction.padEnd(12, '0'))).toBe(pico)
      }),
    )
    expect(usdExact('1234.500001')).toBe('$1,234.500001')
    expect(usdExact('0.000000000001')).toBe('$0.000000000001')
    expect(usdExact('7')).toBe('$7.00')
  })
})

test('an unknown value is n/a, and zero is zero', () => {
  expect([count(null), count(0), count(1234567)]).toEqual(['n/a', '0', '1,234,567'])
  expect([duration(null), duration(0), dateTime(null)]).toEqual(['n/a', '0 ms', 'n/a'])
})

test('the singular is used for one', () => {
  expect([0, 1, 1200].map((n) => counted(n, 'request'))).toEqual([
    '0 requests',
    '1 request',
    '1,200 requests',
  ])
})

test('short forms of numbers', () => {
  expect([0, 950, 1000, 34_500, 1_234_567, 2e9].map(short)).toEqual([
    '0',
    '950',
    '1k',
    '34.5k',
    '1.2M',
    '2B',
  ])
  expect([0, 0.0004, 0.1234, 1].map(percent)).toEqual(['0%', '< 0.1%', '12.3%', '100%'])
  expect([850, 1240, 42_000, 125_000, 120_000].map(duration)).toEqual([
    '850 ms',
    '1.24 s',
    '42.0 s',
    '2 min 5 s',
    '2 min',
  ])
  expect([512, 1400, 3_200_000].map(bytes)).toEqual(['512 B', '1.4 kB', '3.2 MB'])
})

test('a number that rounds up to the next unit uses that unit', () => {
  expect([999, 999_499, 999_500, 999_999, 999_999_999].map(short)).toEqual([
    '999',
    '999k',
    '1M',
    '1M',
    '1B',
  ])
  expect([999.6, 9_996, 59_949, 59_999].map(duration)).toEqual([
    '1.00 s',
    '10.0 s',
    '59.9 s',
    '1 min',
  ])
  expect([999, 999_949, 999_999].map(bytes)).toEqual(['999 B', '999.9 kB', '1.0 MB'])
})

test('timestamps are in UTC, and those with a year name the zone', () => {
  expect(dateTime('2026-11-03T23:59:09.5Z')).toBe('3 Nov 2026, 23:59:09 UTC')
  expect(dayTime('2026-11-03T23:59:09.5Z')).toBe('3 Nov, 23:59:09')
  expect(date('2026-11-03T00:30:00+02:00')).toBe('2 Nov 2026')
  const now = Date.parse('2026-11-03T12:00:00Z')
  expect(ago('2026-11-03T11:57:00Z', now)).toBe('3 min ago')
  expect(ago('2026-11-05T12:00:00Z', now)).toBe('in 2 d')
})
