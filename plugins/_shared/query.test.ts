import { expect, test } from 'bun:test'
import { readPeriod } from './query.ts'

test.each([
  ['2026-11-21T10:30:00Z', '2026-11-21T10:30:00.000Z'],
  ['2026-11-21T10:30:00.123456Z', '2026-11-21T10:30:00.123Z'],
  ['2026-11-21T10:30:00+02:00', '2026-11-21T08:30:00.000Z'],
  ['2028-02-29T00:00:00z', '2028-02-29T00:00:00.000Z'],
])('%s is an instant', (text, at) => {
  expect(readPeriod({ occurred_at_start: text }).start?.toISOString()).toBe(at)
})

test.each([
  '',
  'yesterday',
  '2026-11-21',
  '2026-11-21T10:30:00',
  '2026-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-11-21T25:00:00Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+05:00',
  '9999-01-01T00:00:00Z',
  '9999-12-31T23:59:59-23:00',
  '+012026-11-21T00:00:00Z',
  "2026-11-21T00:00:00Z' or 1=1",
])('%p is none', (text) => {
  expect(() => readPeriod({ occurred_at_end: text })).toThrow(
    'query occurred_at_end: must be a valid RFC 3339 time',
  )
})

test('an empty time range is refused', () => {
  const [occurred_at_start, occurred_at_end] = ['2026-11-21T10:30:00Z', '2026-11-21T11:30:00+01:00']
  expect(() => readPeriod({ occurred_at_start, occurred_at_end })).toThrow(
    'query occurred_at_end: must be after occurred_at_start',
  )
})
