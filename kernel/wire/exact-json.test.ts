import { describe, expect, test } from 'bun:test'
import { parseExact } from './exact-json.ts'

describe('integers', () => {
  test.each([
    '{"id":1234567890123456789}',
    '{"ids":[-9007199254740993,{"id":18446744073709551615}],"text":"1234567890123456789"}',
    '{"a":9007199254740991,"b":0.5,"c":100,"d":null}',
    '{"id":9007199254740993}',
    '{"id":9007199254740993,"float":0.12345678901234568}',
  ])('come out as they went in: %s', (text) => {
    expect(JSON.stringify(parseExact(text))).toBe(text)
  })

  test('that are exact are numbers', () => {
    expect(parseExact('{"a":9007199254740991,"b":"1234567890123456789"}')).toEqual({
      a: 9007199254740991,
      b: '1234567890123456789',
    })
  })
})
