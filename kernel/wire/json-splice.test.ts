import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../plugin/json.ts'
import { setMembers, setModel } from './json-splice.ts'

const spaced = (value: JsonValue) => JSON.stringify(value, null, 2)
const object = fc
  .dictionary(
    fc.oneof(fc.constantFrom('model', 'stream', 'a"b', 'ü\\'), fc.string()),
    fc.jsonValue(),
  )
  .map((value) => value as JsonObject)

test('set members parse as set, and everything else is as it was', () => {
  fc.assert(
    fc.property(object, fc.jsonValue(), fc.boolean(), (body, value, wide) => {
      const { __proto__: _, ...plain } = body
      const text = wide ? spaced(plain) : JSON.stringify(plain)
      const set = setMembers(text, { model: value as JsonValue })
      const asJson = JSON.parse(JSON.stringify(value))
      expect(JSON.parse(set)).toEqual({ ...JSON.parse(text), model: asJson })
    }),
    { numRuns: 2000 },
  )
})

test('sets a model, whatever is before and in it', () => {
  fc.assert(
    fc.property(object, fc.string(), fc.string(), fc.boolean(), (body, current, next, wide) => {
      const { __proto__: _, ...plain } = body
      const whole = { ...plain, model: current }
      const text = wide ? spaced(whole) : JSON.stringify(whole)
      const asJson = JSON.parse(JSON.stringify(plain))
      expect(JSON.parse(setModel(text, current, next))).toEqual({ ...asJson, model: next })
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['{"n":12345678901234567890,"model":"a"}', '{"n":12345678901234567890,"model":"b"}'],
  ['{"x":{"model":"a"},"model":"a"}', '{"x":{"model":"a"},"model":"b"}'],
  ['{"m":"\\"model\\":\\"a\\"","model":"a"}', '{"m":"\\"model\\":\\"a\\"","model":"b"}'],
  ['{"model":"a","model":"a"}', '{"model":"b","model":"b"}'],
  ['{"mod\\u0065l":"a"}', '{"mod\\u0065l":"b"}'],
  [' { "model" : null } ', ' { "model" : "b" } '],
  ['{}', '{"model":"b"}'],
])('%s becomes %s', (text, expected) => {
  expect(setMembers(text, { model: 'b' })).toBe(expected)
})

test('a member deep inside is set at its path', () => {
  expect(setMembers('{"r":[{"model":"a"},{"model":"a"}]}', { model: 'b' }, ['r', 1])).toBe(
    '{"r":[{"model":"a"},{"model":"b"}]}',
  )
  expect(setMembers('{"r":1}', { model: 'b' }, ['r'])).toBe('{"r":1}')
})

test.each([
  ['{"model":"a","mod\\u0065l":"a"}', '{"model":"b","mod\\u0065l":"b"}'],
  ['{"model":"a","n":1,"model":"a"}', '{"model":"b","n":1,"model":"b"}'],
  ['{"x":{"model":"a"},"model":"a"}', '{"x":{"model":"a"},"model":"b"}'],
  ['{"x":{"model":"a"},"model" : "a"}', '{"x":{"model":"a"},"model" : "b"}'],
  ['{"model" : "a","x":{"model":"a"}}', '{"model" : "b","x":{"model":"a"}}'],
])('the model is set at the top alone, wherever and however it is named there: %s', (text, set) => {
  expect(setModel(text, 'a', 'b')).toBe(set)
})
