import { describe, expect, test } from 'bun:test'
import { exactReply, parseExact } from './exact-json.ts'

describe('integers', () => {
  test.each([
    '{"id":1234567890123456789}',
    '{"ids":[-9007199254740993,{"id":18446744073709551615}],"text":"1234567890123456789"}',
    '{"a":9007199254740991,"b":0.5,"c":100,"d":null}',
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

test('a reply without its text stays as it is', () => {
  const body = { id: 1 }
  expect(exactReply({ body })).toBe(body)
  expect(exactReply({ body, rawBody: '{"id":1}' })).toBe(body)
})
