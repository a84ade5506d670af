import { expect, test } from 'bun:test'
import { hiding, showing } from './tool-rule.ts'

test('hiding a tool denies it, and showing it again removes the rule', () => {
  const hidden = hiding(null, 'drop')
  expect(hidden).toEqual({ deny: ['drop'] })
  expect(showing(hidden, 'drop')).toBeNull()
  expect(showing({ deny: ['DROP', 'wipe'] }, 'drop')).toEqual({ deny: ['wipe'] })
})

test('showing a tool adds it to an allow list that lacks it', () => {
  expect(showing({ allow: ['read'], deny: ['drop'] }, 'drop')).toEqual({ allow: ['read', 'drop'] })
})
