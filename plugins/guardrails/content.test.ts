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

test.each([
  ['{"a":1,"a":2}', true],
  ['{"a":1,"\\u0061":1}', true],
  ['{"a":[{"b":":","b":null}]}', true],
  ['{ "x" : {"y":{}} , "x"\n: 1}', true],
  ['{"__proto__":1,"__proto__":{"a":1}}', true],
  ['{"a":{"a":"a","b":["a"]},"b":{"a":{}}}', false],
  ['{"a":":,\\"a\\":","b\\\\":"\\\\"}', false],
])('arguments with a duplicate key are rejected: %s', (text, repeats) => {
  expect(parseArguments(text)).toEqual(repeats ? undefined : JSON.parse(text))
})

test('duplicate keys are found in linear time at any depth', () => {
  const deep = `${'{"a":['.repeat(200_000)}${']}'.repeat(200_000)}`
  const begin = performance.now()
  expect(parseArguments(deep)).toBeDefined()
  expect(parseArguments(deep.replace('[]', '[{"b":1,"b":1}]'))).toBeUndefined()
  expect(performance.now() - begin).toBeLessThan(2_000)
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
  // In audit mode, text that a check masks stays masked.
  const calls = (text: string) =>
    ({ kind: 'tool_calls', calls: [{ tool: 't', arguments: text }] }) as const
  const twice = calls('{"a":"SECRET","a":"SECRET"}')
  expect(withTexts(twice, ['{"a":"x","a":"x"}'])).toEqual(calls('{"a":"x","a":"x"}'))
})
