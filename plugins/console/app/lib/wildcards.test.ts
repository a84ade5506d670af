import { expect, test } from 'bun:test'
import { covers } from '@/lib/wildcards.ts'

test.each([
  ['openai/*', 'openai/gpt-5', true],
  ['openai/*-mini', 'openai/o3-mini', true],
  ['openai/*', 'openai/', false],
  ['openai/*', 'other/gpt-5', false],
  ['ab*ba', 'aba', false],
  ['fast', 'fast', true],
  ['fast', 'faster', false],
])('%s covers %s: %p', (key, name, does) => {
  expect(covers(key, name)).toBe(does)
})
