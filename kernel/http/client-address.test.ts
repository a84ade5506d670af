import { expect, test } from 'bun:test'
import { createClientAddress } from './client-address.ts'

const addressOf = createClientAddress(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'])
const client = (peer: string | undefined, headers: Record<string, string> = {}) =>
  addressOf(peer, new Headers(headers))

test('without a proxy that is trusted the address is that of the connection', () => {
  const forged = { 'x-forwarded-for': '198.51.100.7', forwarded: 'for=198.51.100.7' }
  expect(client('203.0.113.9', forged)).toBe('203.0.113.9')
  expect(createClientAddress([])('10.0.0.1', new Headers(forged))).toBe('10.0.0.1')
  expect(client(undefined, forged)).toBeUndefined()
})

test.each([
  ['198.51.100.7', '198.51.100.7'],
  // The caller's claim is left of what the proxies added.
  ['1.1.1.1, 198.51.100.7, 10.2.3.4', '198.51.100.7'],
  ['1.1.1.1,198.51.100.7:4711', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['2001:db9::7', '2001:db9::7'],
  ['[2001:db9::7]:4711', '2001:db9::7'],
  ['10.2.3.4, 10.2.3.5', '10.2.3.4'],
  ['198.51.100.7, unknown', '10.0.0.1'],
  ['198.51.100.7, unknown, 10.2.3.4', '10.2.3.4'],
  ['', '10.0.0.1'],
])('behind a trusted proxy x-forwarded-for %p means %s', (value, address) => {
  expect(client('10.0.0.1', { 'x-forwarded-for': value })).toBe(address)
  expect(client('::ffff:10.0.0.1', { 'x-forwarded-for': value })).toBe(address)
})

test.each([
  ['for=198.51.100.7', '198.51.100.7'],
  ['for=1.1.1.1, For="198.51.100.7:80";proto=https;by=10.0.0.1, for=10.9.9.9', '198.51.100.7'],
  ['proto=https;for="[2001:db9::7]:4711"', '2001:db9::7'],
  ['for=198.51.100.7, for=_hidden', '10.0.0.1'],
  ['proto=https', '10.0.0.1'],
])('behind a trusted proxy forwarded %p means %s', (value, address) => {
  expect(client('10.0.0.1', { forwarded: value })).toBe(address)
})

test('two headers that name different callers are not believed: a proxy writes only one', () => {
  const both = (forwarded: string) =>
    client('10.0.0.1', { 'x-forwarded-for': '198.51.100.7', forwarded })
  expect(both('for=198.51.100.7')).toBe('198.51.100.7')
  expect(both('for=203.0.113.9')).toBe('10.0.0.1')
})
