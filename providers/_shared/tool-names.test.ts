import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createToolNames, GOOGLE_NAMES, NAMES_OF_64, NAMES_OF_128 } from './tool-names.ts'

const long = 'mcp__plugin_tracker_tracker__createComponentRelationshipForCurrentItem'

test('a valid name is kept, others are shortened and mapped back', () => {
  const names = createToolNames(NAMES_OF_64)
  expect(names.sent('get_weather-2')).toBe('get_weather-2')
  const short = names.sent(long)
  expect(short).toMatch(/^mcp__plugin_tracker_tracker__createComponentRelatio_[0-9a-f]{12}$/)
  expect(names.asked(short)).toBe(long)
  expect(names.asked('get_weather-2')).toBe('get_weather-2')
  expect(names.asked('never_sent')).toBe('never_sent')
})

test('the same name is sent the same way in each process', () => {
  expect(createToolNames(NAMES_OF_64).sent('a.b')).toBe('a_b_2e7336dc8eba')
})

test('names with the same prefix stay distinct, also from a short form', () => {
  const { sent } = createToolNames(NAMES_OF_64)
  const beginning = 'x'.repeat(64)
  const asked = [`${beginning}a`, `${beginning}b`, beginning, sent(`${beginning}a`), 'a.b', 'a_b']
  expect(new Set(asked.map(sent)).size).toBe(asked.length)
})

test.each([
  ['64 characters', NAMES_OF_64],
  ['128 characters', NAMES_OF_128],
  ["Google's", GOOGLE_NAMES],
])('any names: they fit, come back, and stay apart: %s', (_, limit) => {
  const name = fc.oneof(
    fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' }),
    fc.stringMatching(/^[a-zA-Z0-9_.:-]{1,140}$/),
    fc.stringMatching(/^[a-z]{1,3}_[0-9a-f]{12}$/),
  )
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 20 }), (asked) => {
      const names = createToolNames(limit)
      const sent = asked.map(names.sent)
      for (const each of sent) expect(each).toMatch(limit.fits)
      expect(new Set(sent).size).toBe(asked.length)
      expect(sent.map(names.asked)).toEqual(asked)
    }),
  )
})
