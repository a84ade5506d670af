import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { plainJson } from './json-escapes.ts'

test.each([
  ['{"name":"M\\u00fcller"}', '{"name":"Müller"}'],
  ['{"\\u0061":"\\/tmp"}', '{"a":"/tmp"}'],
  ['"\\ud83d\\ude00 \\uD83D"', '"😀 \\ud83d"'],
  ['"\\\\u0041 \\u005c\\u0022\\u000a"', '"\\\\u0041 \\\\\\"\\n"'],
  [
    '{"n":12345678901234567890, "a":1.0,"a":"\\n"}',
    '{"n":12345678901234567890, "a":1.0,"a":"\\n"}',
  ],
  ['{"cut off":"\\u00', '{"cut off":"\\u00'],
])('%s is read as %s', (text, plain) => {
  expect(plainJson(text)).toBe(plain)
})

test('the meaning of JSON text stays the same, however it is escaped', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      const escaped = text.replace(
        /[^\x20-\x7e]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
      expect(plainJson(escaped)).toBe(text)
      expect(plainJson(text)).toBe(text)
    }),
  )
})
