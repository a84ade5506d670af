import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type ErrorCode, errorKind, GatewayError, safeUpstreamMessage } from './errors.ts'

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

test('an error of a code that there is not cannot be made, and says which code', () => {
  const make = () => new GatewayError('forbidden' as ErrorCode, 'no')
  expect(make).toThrow('there is no error code "forbidden"')
  expect(() => errorKind('toString' as ErrorCode)).toThrow('there is no error code "toString"')
})

test('docs/errors.md has every code, with its status and its type', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const codes = [...read('errors.ts').matchAll(/^ {2}(\w+): \[\d{3}, '/gm)].map(([, code]) => code)
  const rows = [...read('../../docs/errors.md').matchAll(/^\| `(\w+)` +\| (\d+) +\| `(\w+)`/gm)]
  expect(codes.length).toBeGreaterThan(30)
  expect(rows.map(([, code]) => code).toSorted()).toEqual(codes.toSorted())
  for (const [, code, status, type] of rows) {
    expect([code, { status: Number(status), type }]).toEqual([code, errorKind(code as ErrorCode)])
  }
})

test.each(['x', 'é', '語', '👍'])('an upstream’s words take 2 KiB at most: %s', (letter) => {
  const size = Buffer.byteLength(letter)
  const fits = letter.repeat(Math.floor(2048 / size))
  expect(safeUpstreamMessage(fits)).toBe(fits)
  const cut = safeUpstreamMessage(letter.repeat(3000))
  expect(Buffer.byteLength(cut)).toBeWithin(2040, 2049)
  expect(cut).toMatch(new RegExp(`^(?:${letter})+…$`, 'u'))
})
