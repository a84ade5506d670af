import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createNameList } from './wildcard.ts'

test('prefers an entry of the same name, then the most specific wildcard', () => {
  const names = createNameList(['*', 'a/*', 'a/*-mini', 'a/b', '*-b'])
  expect(names.find('a/b')).toEqual({ entry: 'a/b', part: undefined })
  expect(names.find('a/c')).toEqual({ entry: 'a/*', part: 'c' })
  expect(names.find('a/c-mini')).toEqual({ entry: 'a/*-mini', part: 'c' })
  expect(names.find('a/x-b')).toEqual({ entry: 'a/*', part: 'x-b' })
  expect(names.find('c/d/e')).toEqual({ entry: '*', part: 'c/d/e' })
  expect(createNameList(['a/*']).find('a/')).toBeUndefined()
  expect(createNameList(['ab*ba']).find('aba')).toBeUndefined()
})

test('the found entry, filled with its part, is the name', () => {
  const name = fc.stringMatching(/^[a-c/*]{1,6}$/)
  fc.assert(
    fc.property(
      fc.array(name, { maxLength: 6 }),
      fc.stringMatching(/^[a-c/]{1,8}$/),
      (names, one) => {
        const entries = names.filter((each) => each.split('*').length <= 2)
        const found = createNameList(entries).find(one)
        if (found === undefined) return
        expect(found.entry.replace('*', found.part ?? '')).toBe(one)
        expect(found.part === undefined).toBe(entries.includes(one))
      },
    ),
  )
})
