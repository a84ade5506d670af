import { expect, test } from 'bun:test'
import { routeKeys } from './route-keys.ts'

const keys = routeKeys(
  ['a/*', 'a/own', 'fixed/*', 'plain'],
  [
    { model: 'a/*', provider: 'p', upstreamModel: '*' },
    { model: 'a/own', provider: 'p', upstreamModel: 'x' },
    { model: 'fixed/*', provider: 'p', upstreamModel: 'one' },
    { model: 'plain', provider: 'p', upstreamModel: 'x' },
  ],
)

test.each([
  ['a/b/c/p/b/c', true],
  ['a/b/p/b', true],
  ['a/b/p/c', false],
  ['a/b/q/b', false],
  ['a/own/p/own', false],
  ['a/b-*/p/b-*', false],
  ['a//p/', false],
  ['fixed/b/p/one', true],
  ['fixed/b/p/two', false],
])('%s is a route that a wildcard makes: %p', (key, is) => {
  expect(keys.isMade(key)).toBe(is)
})

test('a route is traced to the wildcard that it is made from', () => {
  const origin = (model: string, upstreamModel: string) =>
    keys.origin({ model, provider: 'p', upstreamModel })
  expect(origin('a/b', 'b')).toBe('a/*/p/*')
  expect(origin('fixed/b', 'one')).toBe('fixed/*/p/one')
  expect([origin('a/b', 'c'), origin('a/own', 'x'), origin('plain', 'x')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
