import { expect, test } from 'bun:test'
import { headersOf } from './request.ts'

test('each header is one text, those included that came in several lines', () => {
  const headers = new Headers([
    ['X-Request-Id', 'a'],
    ['accept', 'text/html'],
    ['accept', 'application/json'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ])
  expect(headersOf(headers)).toEqual({
    'x-request-id': 'a',
    accept: 'text/html, application/json',
    'set-cookie': 'a=1, b=2',
  })
})
