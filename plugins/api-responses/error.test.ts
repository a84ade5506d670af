import { expect, test } from 'bun:test'
import { responsesError } from './error.ts'

const spent = {
  code: 'budget_exceeded',
  message: 'the daily budget of zoë@example.com, 1 USD, is used up: …',
  type: 'budget_error',
  status: 429,
  details: {
    reason: 'the daily budget of zoë@example.com, 1 USD, is used up',
    window_end: '2026-04-01T00:00:00.000Z',
    resets_at: '2026-04-01T00:00:00.000Z',
  },
}

test('an exhausted budget is an error for which Codex stops', () => {
  const { body, headers } = responsesError(spent, 'r1')
  expect(body.error).toEqual({
    ...{ code: 'budget_exceeded', type: 'usage_limit_reached', param: null },
    ...{ message: spent.message, ...spent.details, request_id: 'r1' },
    resets_at: Date.UTC(2026, 3, 1) / 1000,
  })
  expect(headers).toEqual({
    'x-codex-promo-message': 'The daily budget of zo?@example.com, 1 USD, is used up',
  })
})

test('an exhausted upstream budget is an upstream error', () => {
  const theirs = { ...spent, gatewayCode: 'upstream_http_error' }
  const { body, headers } = responsesError(theirs, 'r1')
  expect(body.error).toMatchObject({ type: 'budget_error', resets_at: spent.details.resets_at })
  expect(headers).toBeUndefined()
})

test('an error in a stream is an event with type and next number', () => {
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
