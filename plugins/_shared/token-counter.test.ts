import { afterAll, expect, test } from 'bun:test'
import { pino } from 'pino'
import { createTokenCounter } from './token-counter.ts'

const lines: string[] = []
const counter = createTokenCounter({ log: pino({}, { write: (line) => lines.push(line) }) })
afterAll(() => counter.close())

test.each([
  ['the sea is wide', 4],
  ['', 0],
  // Text of the caller, not a mark of the tokenizer: more than the one token of the mark.
  ['<|endoftext|>', 7],
])('%p is counted as text', async (text, tokens) => {
  expect(await counter.count([text], 0)).toBe(tokens)
})

test('a long text without spaces is counted in time, with at most one token per byte', async () => {
  const text = ' '.repeat(200_000)
  const before = performance.now()
  const tokens = await counter.count([text], 0)
  expect(performance.now() - before).toBeLessThan(4000)
  expect(tokens).toBeGreaterThan(0)
  expect(tokens).toBeLessThan(text.length)
})

test('text beyond the tokenizer limit counts one token per five bytes', async () => {
  expect(await counter.count([], 500)).toBe(100)
  const text = 'a b '.repeat(100_000)
  const [all, first] = await Promise.all([
    counter.count([text], 0),
    counter.count([text.slice(0, 262_144)], 0),
  ])
  expect(all - first).toBe(Math.floor((text.length - 262_144) / 5))
})

test('calls beyond the queue are estimated by their length', async () => {
  const text = 'one two three four five six seven'
  const counts = await Promise.all(Array.from({ length: 80 }, () => counter.count([text], 0)))
  expect(counts.slice(0, 64)).toEqual(Array(64).fill(7))
  expect(counts.slice(64)).toEqual(Array(16).fill(Math.floor(text.length / 5)))
})

test('a counter that is closed while counting estimates, and logs it', async () => {
  const pending = counter.count(['the sea is wide and blue'], 0)
  counter.close()
  expect(await pending).toBe(4)
  expect(lines.join()).toContain('estimated from the text length')
})
