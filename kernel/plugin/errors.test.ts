import { expect, test } from 'bun:test'
import {
  defineErrors,
  type ErrorCode,
  errorKind,
  GatewayError,
  safeUpstreamMessage,
} from './errors.ts'

test('an error has an error status, whatever an upstream answered with', () => {
  const statusOf = (status: number) =>
    new GatewayError('upstream_http_error', 'no', { status }).status
  expect([400, 429, 599].map(statusOf)).toEqual([400, 429, 599])
  expect([200, 302, 399, 600, 999, 450.5, Number.NaN].map(statusOf)).toEqual(Array(7).fill(502))
})

test.each([
  [{ headers: { 'retry-after': '1\n2' } }, 'retry-after'],
  [{ headers: { 'x-why': '你好' } }, 'x-why'],
  [{ details: { depth: 3n as never } }, 'BigInt'],
])('an error that could not be sent (%p) cannot be made', (options, why) => {
  expect(() => new GatewayError('conflict', 'no', options)).toThrow(why)
})

test('refuses an unknown error code and names it', () => {
  const make = () => new GatewayError('forbidden' as ErrorCode, 'no')
  expect(make).toThrow('"forbidden" is not an error code')
  expect(() => errorKind('toString' as ErrorCode)).toThrow('"toString" is not an error code')
})

test('a plugin defines errors, with their statuses and types', () => {
  const errors = defineErrors({
    rate_limited: { status: 429, type: 'rate_error', when: 'too many calls', fix: 'wait' },
  })
  expect(new GatewayError(errors.rate_limited, 'no')).toMatchObject({
    code: 'rate_limited',
    status: 429,
    type: 'rate_error',
    message: 'no',
  })
  expect(errorKind(errors.rate_limited)).toBe(errors.rate_limited)
  const thrown = new GatewayError(errors.rate_limited, 'no')
  expect(thrown.kind).toBe(errors.rate_limited)
  // The logger prints each enumerable member of an error.
  expect(Object.keys(thrown)).not.toContain('kind')
})

test.each(['x', 'é', '語', '👍'])('an upstream’s words take 2 KiB at most: %s', (letter) => {
  const size = Buffer.byteLength(letter)
  const fits = letter.repeat(Math.floor(2048 / size))
  expect(safeUpstreamMessage(fits)).toBe(fits)
  const cut = safeUpstreamMessage(letter.repeat(3000))
  expect(Buffer.byteLength(cut)).toBeWithin(2040, 2049)
  expect(cut).toMatch(new RegExp(`^(?:${letter})+…$`, 'u'))
})
