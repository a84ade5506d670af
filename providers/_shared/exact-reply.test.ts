import { expect, test } from 'bun:test'
import { exactReply } from './exact-reply.ts'

test('a reply without its text is unchanged', () => {
  const body = { id: 1 }
  expect(exactReply({ body })).toBe(body)
  expect(exactReply({ body, rawBody: '{"id":1}' })).toBe(body)
})
