import { expect, test } from 'bun:test'
import { glance, isPlausible } from './measure.ts'
import { usage } from './testing.ts'

test('the stated cost of a running stream does not cover what follows', () => {
  const stated = usage({ output: 5, statedUsd: ['0.1'] })
  const partial = { doubt: 'client_abort', input: () => [], moreOutputBytes: 0, continues: true }
  expect(glance(stated, { ...partial, output: '' })).toMatchObject({ statedUsd: ['0.1'] })
  const later = glance(stated, { ...partial, output: 'more words than were counted' })
  expect(later.output).toBeGreaterThan(5)
  expect(later).not.toHaveProperty('statedUsd')
})

test('no call uses a tool a million times', () => {
  const request = { length: 10, maxOutputTokens: undefined, choices: 1 }
  const uses = (web_search: number) => isPlausible(usage({ uses: { web_search } }), request)
  expect(uses(1_000_000)).toBe(true)
  expect(uses(1_000_001)).toBe(false)
})
