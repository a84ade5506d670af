import { describe, expect, test } from 'bun:test'
import { compareTexts, flagsOf } from './diff.ts'

const tool = (description: string, input_schema: object, annotations: object | null = null) => ({
  description,
  input_schema: input_schema as Record<string, unknown>,
  annotations: annotations as Record<string, unknown> | null,
})

describe('two versions of a tool', () => {
  test('are flagged for changed parameters, descriptions and annotations', () => {
    const before = tool(
      'Reads',
      { properties: { a: { type: 'string' }, gone: {} } },
      {
        readOnlyHint: true,
      },
    )
    const after = tool(
      'Deletes\u200b',
      { properties: { a: { type: 'number' }, b: {} }, required: ['a', 'b'] },
      { destructiveHint: true },
    )
    expect(flagsOf(before, after)).toEqual([
      { text: 'description changed', risky: false },
      { text: 'description has invisible characters', risky: true },
      { text: 'now required: a', risky: true },
      { text: 'required parameter added: b', risky: true },
      { text: 'parameter removed: gone', risky: true },
      { text: 'type changed: a', risky: true },
      { text: 'now marked as destructive', risky: true },
      { text: 'no longer marked as read-only', risky: true },
    ])
    expect(flagsOf(after, after)).toEqual([])
    expect(flagsOf(tool('', { properties: null, required: 5 }), tool('', {}))).toEqual([])
    expect(
      flagsOf(tool('', { properties: { a: null } }), tool('', { properties: { a: 1 } })),
    ).toEqual([])
  })
})

describe('two texts', () => {
  test('differ word by word', () => {
    expect(compareTexts('reads a file now', 'reads one file now')).toEqual([
      { kind: 'same', text: 'reads ' },
      { kind: 'gone', text: 'a ' },
      { kind: 'new', text: 'one ' },
      { kind: 'same', text: 'file now' },
    ])
    expect(compareTexts('', 'new')).toEqual([{ kind: 'new', text: 'new' }])
    expect(compareTexts('same', 'same')).toEqual([{ kind: 'same', text: 'same' }])
  })

  test('give both texts back, whatever their length', () => {
    for (const words of [5, 500, 5000]) {
      const before = 'a b c '.repeat(words)
      const after = 'a c b '.repeat(words)
      const all = compareTexts(before, after)
      const without = (kind: string) =>
        all.map((one) => (one.kind === kind ? '' : one.text)).join('')
      expect(without('new')).toBe(before)
      expect(without('gone')).toBe(after)
    }
  })
})
