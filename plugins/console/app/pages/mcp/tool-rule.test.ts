import { expect, test } from 'bun:test'
import { hiding, showing } from './tool-rule.ts'

test('a tool is hidden by denying it, and shown again without leaving a rule', () => {
  const hidden = hiding(null, 'drop')
  expect(hidden).toEqual({ deny: ['drop'] })
  expect(showing(hidden, 'drop')).toBeNull()
  expect(showing({ deny: ['DROP', 'wipe'] }, 'drop')).toEqual({ deny: ['wipe'] })
})

test('a tool that an allow list leaves out is added to it', () => {
  expect(showing({ allow: ['read'], deny: ['drop'] }, 'drop')).toEqual({ allow: ['read', 'drop'] })
})
