import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bedrockNamesOf, decimalString, namesOf, rowsOf, vertexClaudeNamesOf } from './convert.ts'

describe('decimalString', () => {
  test('writes exponents out', () => {
    expect(decimalString(7.5e-8)).toBe('0.000000075')
    expect(decimalString(1e-7)).toBe('0.0000001')
    expect(decimalString(1.25e-10)).toBe('0.000000000125')
    expect(decimalString(0.0088)).toBe('0.0088')
    expect(decimalString(75)).toBe('75')
  })

  test('never changes the number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: 0, max: 18 }), (n, e) => {
        const value = Number(`${n}e-${e}`)
        const text = decimalString(value)
        expect(text).toMatch(/^\d+(\.\d+)?$/)
        expect(Number(text)).toBe(value)
      }),
    )
  })
})

describe('rowsOf', () => {
  test('takes prices of all units that it knows, and no other', () => {
    const prices = {
      input_mtok: 0.3,
      output_mtok: 2.5,
      cache_write_1h_mtok: 0.6,
      input_audio_mtok: 1,
      cache_audio_read_mtok: 0.1,
      web_searches_kcount: 10,
      requests_kcount: 12,
      social_searches_kcount: 5,
    }
    expect(rowsOf(prices)).toEqual([
      {
        input: '0.3',
        output: '2.5',
        cache_write_1h: '0.6',
        input_audio: '1',
        cached_audio: '0.1',
        web_search: '10',
        request: '12',
      },
    ])
  })

  test('takes the prices of every length of prompt, shortest first', () => {
    const prices = {
      input_mtok: {
        base: 5,
        tiers: [
          { start: 1_000_000, price: 20 },
          { start: 200_000, price: 10 },
        ],
      },
      output_mtok: 25,
    }
    expect(rowsOf(prices)).toEqual([
      {
        input: '5',
        output: '25',
        long: [
          { above: 200_000, prices: { input: '10' } },
          { above: 1_000_000, prices: { input: '20' } },
        ],
      },
    ])
  })

  test('leaves out a rate that is finer than the money unit', () => {
    expect(rowsOf({ input_mtok: 1, cache_write_mtok: 0.08333333333333334 })).toEqual([
      { input: '1' },
    ])
  })

  test('leaves out what prices cannot say: output at two of them', () => {
    expect(rowsOf({ input_mtok: 2, output_mtok: 8, output_reasoning_mtok: 3 })).toEqual([
      { input: '2' },
    ])
  })

  test('dates: each price holds until the next one starts', () => {
    const rows = rowsOf([
      { prices: { input_mtok: 10 } },
      { constraint: { type: 'start_date', start_date: '2025-06-10' }, prices: { input_mtok: 2 } },
      { constraint: { type: 'start_date', start_date: '2026-01-01' }, prices: { input_mtok: 1 } },
    ])
    expect(rows).toEqual([
      { input: '10', until: '2025-06-10' },
      { input: '2', from: '2025-06-10', until: '2026-01-01' },
      { input: '1', from: '2026-01-01' },
    ])
  })

  test('hours: only what is the same all day is a rate', () => {
    const rows = rowsOf([
      { prices: { input_mtok: 0.1, output_mtok: 0.5 } },
      { constraint: { type: 'time_of_date' }, prices: { input_mtok: 0.2, output_mtok: 0.5 } },
    ])
    expect(rows).toEqual([{ output: '0.5' }])
  })
})

describe('names', () => {
  test('are the id and what a rule equals; patterns are none', () => {
    expect(namesOf('a', { or: [{ equals: 'b' }, { starts_with: 'c' }, { equals: 'a' }] })).toEqual([
      'a',
      'b',
    ])
    expect(namesOf('a', { equals: 'b' })).toEqual(['a', 'b'])
    expect(namesOf('a', { regex: '^a-\\d+$' })).toEqual(['a'])
  })

  test('Bedrock: geographies stay in the name, -v1:0 may be there or not, or -v1', () => {
    const match = {
      or: [{ starts_with: 'anthropic.claude-x' }, { contains: 'us.anthropic.claude-x' }],
    }
    expect(bedrockNamesOf('regional.anthropic.claude-x-v1:0', match)).toEqual([
      'anthropic.claude-x-v1:0',
      'anthropic.claude-x',
      'us.anthropic.claude-x',
      'us.anthropic.claude-x-v1:0',
    ])
    const undated = bedrockNamesOf('regional.anthropic.claude-opus-4-6-v1:0', {
      contains: 'us.anthropic.claude-opus-4-6',
    })
    expect(undated).toEqual([
      'anthropic.claude-opus-4-6-v1:0',
      'anthropic.claude-opus-4-6',
      'anthropic.claude-opus-4-6-v1',
      'us.anthropic.claude-opus-4-6',
      'us.anthropic.claude-opus-4-6-v1:0',
      'us.anthropic.claude-opus-4-6-v1',
    ])
    expect(bedrockNamesOf('vendor.y-v2:0', { contains: 'vendor.y' })).toEqual(['vendor.y-v2:0'])
  })

  test('Vertex AI: dates behind @, @default for undated Claude models', () => {
    expect(vertexClaudeNamesOf('claude-x-20250929')).toEqual([
      'claude-x-20250929',
      'claude-x@20250929',
    ])
    expect(vertexClaudeNamesOf('claude-x')).toEqual(['claude-x', 'claude-x@default'])
  })
})
