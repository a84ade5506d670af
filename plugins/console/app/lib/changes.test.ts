import { expect, test } from 'bun:test'
import { changesBetween } from './changes.ts'

test('changed fields are listed, and the order of fields does not matter', () => {
  const before = {
    type: 'object',
    properties: { a: { type: 'string' }, b: {} },
    required: ['a', 'b'],
  }
  const after = {
    required: ['b'],
    properties: { a: { type: 'number' }, c: { enum: ['x', 1] } },
    type: 'object',
  }
  expect(changesBetween(before, after)).toEqual([
    { path: 'properties.a.type', before: '"string"', after: '"number"' },
    { path: 'properties.b', before: '{}', after: undefined },
    { path: 'properties.c.enum.0', before: undefined, after: '"x"' },
    { path: 'properties.c.enum.1', before: undefined, after: '1' },
    { path: 'required[a]', before: '"a"', after: undefined },
  ])
  expect(changesBetween({ required: ['a', 'b'] }, { required: ['b', 'a'] })).toEqual([])
})

test('compared with undefined, every field is new', () => {
  expect(changesBetween(undefined, { name: 'a', list: [] })).toEqual([
    { path: 'list', before: undefined, after: '[]' },
    { path: 'name', before: undefined, after: '"a"' },
  ])
  expect(changesBetween(undefined, undefined)).toEqual([])
})
