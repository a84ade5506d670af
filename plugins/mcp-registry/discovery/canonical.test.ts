import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonValue } from 'model-gateway/plugin'
import { canonicalJson, hashOf } from './canonical.ts'

test('members go by their UTF-16 units, numbers and strings as ECMAScript writes them', () => {
  // The examples of RFC 8785, 3.2.2 and 3.2.3.
  expect(
    canonicalJson(
      JSON.parse(String.raw`{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
      }`),
    ),
  ).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"EURO$\u000f\nA'B\"\\\\\"/"}`.replace(
      'EURO',
      '\u20ac',
    ),
  )
  const names = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6']
  const sorted = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])))
  expect(Object.keys(JSON.parse(sorted)).filter((name) => name !== '1')).toEqual([
    '\r',
    '\u0080',
    '\u00f6',
    '\u20ac',
    '\u{1f600}',
    '\ufb33',
  ])
  expect(canonicalJson({ z: -0, a: { __proto__: 1, b: [] } })).toBe('{"a":{"b":[]},"z":0}')
  expect(canonicalJson(JSON.parse('{"__proto__":{"b":1}}'))).toBe('{"__proto__":{"b":1}}')
})

test('the order of members, the space between them and the way back change nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: 'grapheme' }), (value) => {
      const json = JSON.parse(JSON.stringify(value)) as JsonValue
      const text = canonicalJson(json)
      expect(JSON.parse(text)).toEqual(json as never)
      expect(canonicalJson(reversed(json))).toBe(text)
      expect(canonicalJson(JSON.parse(text))).toBe(text)
    }),
  )
})

test('values without a canonical form are rejected', () => {
  expect(() => canonicalJson('\ud800')).toThrow('surrogate')
  expect(() => canonicalJson({ '\udc00': 1 })).toThrow('surrogate')
  expect(() => canonicalJson(JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`))).toThrow(
    'nested too deeply',
  )
  expect(() => canonicalJson(JSON.parse('{"a":[-1e400]}'))).toThrow('out of range')
})

test('a hash names its algorithm', () => {
  expect(hashOf('{"type":"object"}')).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(hashOf('')).toBe('sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [
    name,
    reversed(member as JsonValue),
  ])
  return Object.fromEntries(members.reverse())
}
