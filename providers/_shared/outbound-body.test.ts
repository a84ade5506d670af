import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { editMembers, outboundBody, setStream } from './outbound-body.ts'

const edit = (text: string, changes: Record<string, JsonValue | undefined>) =>
  editMembers(text, new Map(Object.entries(changes)))

describe('editMembers', () => {
  test('replaces, removes and appends; the rest keeps its spelling', () => {
    const text =
      ' { "seed" : 9007199254740993 , "model":"a", "x": [1.50, {"model":"}"}],"store":true}\n'
    expect(edit(text, { model: 'b', store: undefined, stream: true, gone: undefined })).toBe(
      '{"seed" : 9007199254740993,"model":"b","x": [1.50, {"model":"}"}],"stream":true}',
    )
  })

  test('an empty object and escaped names', () => {
    expect(edit('{ }', { a: 1 })).toBe('{"a":1}')
    expect(edit('{"mod\\u0065l":"a"}', { model: 'b' })).toBe('{"model":"b"}')
    expect(edit('{"q\\"\\\\":1,"b":"\\\\"}', { b: 2 })).toBe('{"q\\"\\\\":1,"b":2}')
  })

  test('agrees with parsing, changing and writing, for any object', () => {
    const spaced = fc.record({ value: fc.jsonValue(), indent: fc.constantFrom(0, 1, '\t') })
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.option(spaced, { nil: undefined })),
        fc.constantFrom(0, 2, '\t'),
        (object, edits, indent) => {
          const names = Object.keys(object)
          const changes = new Map<string, JsonValue | undefined>()
          for (const [index, [name, change]] of Object.entries(edits).entries()) {
            // Half of the changes name a member that is there.
            const target = index % 2 === 0 ? (names[index] ?? name) : name
            changes.set(target, change?.value as JsonValue | undefined)
          }
          const before = JSON.stringify(object, null, indent)
          const text = editMembers(before, changes)
          const expected = new Map(Object.entries(object))
          for (const [name, value] of changes) {
            if (value === undefined) expected.delete(name)
            else expected.set(name, value)
          }
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(expected))))
        },
      ),
      { numRuns: 500 },
    )
  })
})

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

  test('what was changed is what is read', () => {
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
