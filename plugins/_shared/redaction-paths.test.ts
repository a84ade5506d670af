import { expect, test } from 'bun:test'
import { pathFault } from './redaction-paths.ts'

test.each([
  'body.messages.*.content.*.image_url.url',
  'headers.x-internal',
  'events.*',
  '*.messages',
  'body',
])('the path %p is good', (path) => {
  expect(pathFault(path)).toBeUndefined()
})

test.each([
  ['', 'empty segment'],
  ['body..a', 'empty segment'],
  ['body.a.', 'empty segment'],
  ['body. a', 'spaces'],
  ['body.mess*', '* within a segment'],
  ['body.**', '* within a segment'],
  ['messages.*.content', 'begins with messages'],
  ['$.body', 'begins with $'],
  ['body.messages[0].content', 'an index in brackets'],
])('the path %p is refused: %s', (path, reason) => {
  expect(pathFault(path)?.message).toContain(reason)
})

test.each([
  ['body.messages[0].content', 'write body.messages.0.content'],
  ['body.messages[*]["content"]', 'write body.messages.*.content'],
  ["$['body'].messages[]", 'write body.messages.*'],
  ['body[messages]', 'write body.messages'],
])('the path %p has a hint how to write it: %s', (path, hint) => {
  expect(pathFault(path)?.hint).toBe(hint)
})
