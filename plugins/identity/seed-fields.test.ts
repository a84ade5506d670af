import { expect, test } from 'bun:test'
import type { Problem } from 'model-gateway/plugin'
import { leaveToAdmin } from './seed-fields.ts'

test('fields that an administrator set are not written, with one warning per field', () => {
  const warnings: Problem[] = []
  const row = {
    adminFields: ['role', 'model_access'],
    role: 'user',
    modelAccessMode: 'restricted',
    allowedModels: ['a'],
    name: 'Old',
  }
  const stated = {
    name: 'New',
    role: 'user',
    modelAccessMode: 'all',
    allowedModels: [],
    configHash: 'h',
  }
  expect(leaveToAdmin(stated, row, ['users', 0], warnings) as object).toEqual({
    name: 'New',
    configHash: 'h',
  })
  expect(warnings).toEqual([
    {
      path: ['users', 0],
      message: 'an administrator has set its model_access, so the value in the file is ignored',
    },
  ])
})

test('a row that no administrator changed follows the file', () => {
  const warnings: Problem[] = []
  const stated = { name: 'New' }
  expect(leaveToAdmin(stated, { adminFields: [] }, [], warnings)).toBe(stated)
  expect(leaveToAdmin(stated, undefined, [], warnings)).toBe(stated)
  expect(warnings).toEqual([])
})
