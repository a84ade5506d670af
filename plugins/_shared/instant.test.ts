import { expect, test } from 'bun:test'
import { dayOf, instantOf } from './instant.ts'

test.each([
  ['2026-11-21T00:00:00Z', '2026-11-21T00:00:00.000Z'],
  ['2026-11-21t01:30+01:30', '2026-11-21T00:00:00.000Z'],
  ['2024-02-29T23:59:59.999999Z', '2024-02-29T23:59:59.999Z'],
])('%s is an instant', (text, at) => expect(instantOf(text)?.toISOString()).toBe(at))

test.each([
  ...['', 'now', '2026-11-21', '2026-11-21T00:00:00', '2026-13-01T00:00:00Z'],
  ...['2026-02-31T00:00:00Z', '2026-11-21T24:00:00Z', '0000-01-01T00:00:00Z'],
  ...['9999-12-31T23:59:59-23:00', '+010000-01-01T00:00:00Z'],
])('%s is none', (text) => expect(instantOf(text)).toBeUndefined())

test('days', () => {
  expect(dayOf('2026-11-21')?.toISOString()).toBe('2026-11-21T00:00:00.000Z')
  for (const text of ['2026-02-30', '2026-2-3', '0000-01-01', '9999-12-31', '']) {
    expect(dayOf(text)).toBeUndefined()
  }
})
