import { expect, test } from 'bun:test'
import { GatewayError } from './errors.ts'

test('an error has an error status, whatever an upstream answered with', () => {
  const statusOf = (status: number) =>
    new GatewayError('upstream_http_error', 'no', { status }).status
  expect([400, 429, 599].map(statusOf)).toEqual([400, 429, 599])
  expect([200, 302, 399, 600, 999, 450.5, Number.NaN].map(statusOf)).toEqual(Array(7).fill(502))
})
