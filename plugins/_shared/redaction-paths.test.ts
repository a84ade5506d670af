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
  ['body. a', 'blanks'],
  ['body.mess*', '* within a segment'],
  ['body.**', '* within a segment'],
  ['messages.*.content', 'begins with messages'],
  ['$.body', 'begins with $'],
])('the path %p is refused: %s', (path, reason) => {
  expect(pathFault(path)?.message).toContain(reason)
})
