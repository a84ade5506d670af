import { expect, test } from 'bun:test'
import { parseArguments, sameShape, withTexts } from './content.ts'

test.each([
  [{ a: 1 }, { a: 2 }, true],
  [{ a: 1, b: [true, null] }, { b: [false, null], a: -1 }, true],
  [{}, {}, true],
  [{ a: 1 }, { a: '1' }, false],
  [{ a: null }, { a: 0 }, false],
  [{ a: null }, { a: {} }, false],
  [{ a: {} }, { a: [] }, false],
  [{ a: [] }, { a: {} }, false],
  [{ a: [1] }, { a: [1, 2] }, false],
  [{ a: 1 }, { a: 1, b: 1 }, false],
  [{ a: 1, b: 1 }, { a: 1, c: 1 }, false],
  [{ a: 1 }, { toString: 1 }, false],
])('%j and %j are of the same shape: %j', (a, b, same) => {
  expect(sameShape(a, b)).toBe(same)
  expect(sameShape(b, a)).toBe(same)
})

test('arguments are a JSON object, and nothing is an empty one', () => {
  expect(parseArguments(' {"a":1} ')).toEqual({ a: 1 })
  expect(parseArguments('')).toEqual({})
  for (const text of ['{', '[]', '1', 'null', '"{}"', '{} {}']) {
    expect(parseArguments(text)).toBeUndefined()
  }
})

test('texts go back to where they came from, as far as they fit', () => {
  const command = ['rm', 'SECRET']
  expect(withTexts({ kind: 'command', command }, ['["rm","x"]'])).toEqual({
    kind: 'command',
    command: ['rm', 'x'],
  })
  expect(withTexts({ kind: 'command', command }, ['["rm"]'])).toBeUndefined()
  expect(withTexts({ kind: 'command', command }, ['rm x'])).toBeUndefined()
  expect(withTexts({ kind: 'command', command: 'a' }, ['b'])).toEqual({
    kind: 'command',
    command: 'b',
  })
  expect(withTexts({ kind: 'text', segments: ['a', 'b'] }, ['x'])).toBeUndefined()
})
