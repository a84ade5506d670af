import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonValue } from '../plugin/json.ts'
import { editMembers } from './edit-members.ts'

const edit = (text: string, changes: Record<string, JsonValue | undefined>) =>
  editMembers(text, new Map(Object.entries(changes)))

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
