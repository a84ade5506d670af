import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { outboundBody, setStream } from './outbound-body.ts'

describe('outboundBody', () => {
  const call = (rawBody: string) => ({ body: JSON.parse(rawBody) as JsonObject, rawBody })

  test('a member that the route sets is not in the caller’s body in another case', () => {
    const body = outboundBody(call('{"model":"x","Top_\\u212a":1}'))
    expect(() => body.set('top_k', 2)).toThrow('the route sets top_k')
    expect(() => body.remove('TOP_K')).toThrow('the route sets TOP_K')
    body.set('top_p', 2)
  })

  test('without the raw text the parsed body is written, a member called __proto__ included', () => {
    const parsed = JSON.parse('{"__proto__":{"a":1},"b":2}') as JsonObject
    const body = outboundBody({ body: parsed, rawBody: undefined })
    body.remove('b')
    body.set('c', 3)
    expect(body.text()).toBe('{"__proto__":{"a":1},"c":3}')
    expect(JSON.stringify(parsed)).toBe('{"__proto__":{"a":1},"b":2}')
  })

  test.each([
    ['{"a":1}', true, '{"a":1,"stream":true}'],
    ['{"stream":false}', true, '{"stream":true}'],
    ['{"stream":true}', false, '{"stream":false}'],
    ['{"stream" : true}', true, '{"stream" : true}'],
    ['{"a" : 1}', false, '{"a" : 1}'],
  ])('%s as a stream, or not: %p', (rawBody, stream, text) => {
    const body = outboundBody(call(rawBody))
    setStream(body, stream)
    expect(body.text()).toBe(text)
  })

  test('reading returns changed members', () => {
    const body = outboundBody(call('{"a":1,"b":2}'))
    body.set('a', 5)
    body.remove('b')
    expect([body.get('a'), body.get('b'), body.get('c')]).toEqual([5, undefined, undefined])
  })

  test('a prompt of 400 KB costs well under 3 ms', () => {
    const content = 'He said "rivers\\run" — and\nmore. '.repeat(12_000)
    const large = call(JSON.stringify({ model: 'a', messages: [{ role: 'user', content }] }))
    const times = Array.from({ length: 20 }, () => {
      const before = performance.now()
      const body = outboundBody(large)
      body.set('model', 'b')
      body.text()
      return performance.now() - before
    })
    expect(Math.min(...times)).toBeLessThan(3)
  })
})
