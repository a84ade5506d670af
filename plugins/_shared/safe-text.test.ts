import { expect, test } from 'bun:test'
import { limitedBytes, limitedText } from './safe-text.ts'

test('a secret across the limit is removed as a whole', () => {
  const text = `${'x'.repeat(90)} gwk_abcdefghijklmnop`
  expect(limitedText(text, 96)).toBe(`${'x'.repeat(90)} [reda`)
  expect(limitedBytes(text, 96)).toBe(`${'x'.repeat(90)} [reda`)
})

test('truncated text has whole characters, and is storable in Postgres', () => {
  expect(limitedText('ab\0c', 3)).toBe('ab')
  expect(limitedBytes('äöü', 5)).toBe('äö')
  expect(limitedText(undefined, 3)).toBeUndefined()
})
