import { expect, test } from 'bun:test'
import { responsesError } from './error.ts'

test('an error in a stream is an event with a type and the number that is next', () => {
  const { body, event } = responsesError(
    { code: 'upstream_timeout', message: 'x', number: 7 },
    'r1',
  )
  const error = {
    ...{ message: 'x', type: 'upstream_error', code: 'upstream_timeout', param: null },
    request_id: 'r1',
  }
  expect(body).toEqual({ error })
  expect(event).toStartWith('event: error\ndata: ')
  expect(JSON.parse(event.slice(event.indexOf('{')))).toEqual({
    ...{ type: 'error', sequence_number: 7, code: 'upstream_timeout', message: 'x', param: null },
    error,
  })
})
