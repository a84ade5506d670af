import { expect, test } from 'bun:test'
import { executedModel, knownModels, modelSet, overlap } from './model-names.ts'

test('a set has the names that match its patterns, and lists its entries', () => {
  const names = modelSet(['fast', 'openai/gpt-*'])
  for (const round of [1, 2]) {
    const asked = ['fast', 'openai/gpt-5', 'openai/gpt-', 'openai/o3', 'openai/gpt-*']
    expect([round, asked.map((name) => names.has(name))]).toEqual([
      round,
      [true, true, false, false, true],
    ])
  }
  // More names than the set remembers answers for.
  const many = Array.from({ length: 100 }, (_, n) => `openai/gpt-${n}`)
  expect(many.every((name) => names.has(name) && !names.has(`x${name}`))).toBe(true)
  expect([...names]).toEqual(['fast', 'openai/gpt-*'])
})

test.each([
  ['a/*', 'a/b', 'a/b'],
  ['a/*', 'a/b-*', 'a/b-*'],
  ['a/*', '*-mini', 'a/*-mini'],
  ['a/*-mini', 'a/b*', 'a/b*-mini'],
  ['a/*', 'b/*', undefined],
  ['a', 'b', undefined],
  ['a/*', 'b', undefined],
])('%s and %s have %p in common', (one, other, both) => {
  expect([overlap(one, other), overlap(other, one)]).toEqual([both, both])
})

test.each([
  ['openai/gpt-5', undefined],
  ['openai/gpt-*', undefined],
  ['*', undefined],
  ['*-mini', undefined],
  ['fast', undefined],
  ['f*', undefined],
  ['mistral/*', 'no model matches mistral/*'],
  ['slow', 'no model matches slow'],
  ['*/*', '*/* has more than one *; use one, which matches any text, as in openai/*'],
])('a grant of %s: %p', (name, fault) => {
  expect(knownModels(['openai/*', 'fast']).faultOf(name)).toBe(fault)
})

test.each([
  ['openai/gpt-5', 'openai/gpt-5'],
  ['fast', 'openai/gpt-5'],
  ['short/o', 'openai/gpt-o'],
  ['gone', undefined],
  ['circle', 'round'],
  ['x', undefined],
])('%s is executed as %p', (name, model) => {
  const aliases = new Map([
    ['openai/*', {}],
    ['fast', { aliasOf: 'openai/gpt-5' }],
    ['short/*', { aliasOf: 'openai/gpt-*' }],
    ['circle', { aliasOf: 'round' }],
    ['round', { aliasOf: 'circle' }],
    ['grows*', { aliasOf: 'growsa*' }],
  ])
  expect(executedModel(name, aliases)).toBe(model)
  expect(executedModel('growsb', aliases)).toStartWith('growsa')
})
