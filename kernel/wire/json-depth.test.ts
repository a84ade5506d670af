import { expect, test } from 'bun:test'
import { DEEPEST_JSON, isTooDeep, nestsTooDeep } from './json-depth.ts'

/** Arrays around the text, so many that it is at the limit when it is `depth` deep itself. */
function atLimit(text: string, depth: number) {
  const around = DEEPEST_JSON - depth
  return '['.repeat(around) + text + ']'.repeat(around)
}

test.each([
  ['[[[1]]]', 3],
  ['{"a":{"b":[{}]},"c":[]}', 4],
  ['[[],[],[{}]]', 3],
  ['{"a":"[[[[{{{{"}', 1],
  ['{"a\\"[[[":["\\\\",["]]]"]]}', 3],
  ['"text"', 0],
])('%s is %i deep', (text, depth) => {
  expect(() => JSON.parse(text)).not.toThrow()
  expect(nestsTooDeep(atLimit(text, depth))).toBe(false)
  expect(nestsTooDeep(`[${atLimit(text, depth)}]`)).toBe(true)
  expect(isTooDeep(JSON.parse(atLimit(text, depth)))).toBe(false)
  expect(isTooDeep(JSON.parse(`[${atLimit(text, depth)}]`))).toBe(true)
})

test('invalid JSON text does not loop forever', () => {
  for (const text of ['"open [[[', ']]]', '\\"', '"\\', '']) expect(nestsTooDeep(text)).toBe(false)
  expect(nestsTooDeep('['.repeat(1_000_000))).toBe(true)
})
