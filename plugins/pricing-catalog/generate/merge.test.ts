import { describe, expect, test } from 'bun:test'
import { type Difference, isOtherModel, isSameModel, merged } from './merge.ts'
import { settle } from './settle.ts'

const none = new Set<never>()
const mine = (difference: Difference) => difference.ours

describe('two lists of one model', () => {
  test('complement each other; the finer of two equal prices is used', () => {
    const row = {
      input: '2',
      cache_read: '0.125',
      tiers: { flex: { input: '1' } },
      from: '2026-01-01',
    }
    const other = {
      usual: { input: '2', output: '8', cache_read: '0.13' },
      tiers: { flex: { input: '1', output: '4' }, priority: { input: '4', output: '16' } },
    }
    expect(merged(row, none, other, mine)).toEqual({
      input: '2',
      output: '8',
      cache_read: '0.125',
      tiers: { flex: { input: '1', output: '4' }, priority: { input: '4', output: '16' } },
      from: '2026-01-01',
    })
  })

  test('have the same length if their limits differ by one', () => {
    const long = (above: number, prices: { input: string } | { output: string }) => [
      { above, prices },
    ]
    const row = { input: '5', output: '30', long: long(271_999, { input: '10' }) }
    const other = {
      usual: { input: '5', long: long(272_000, { output: '45' }) },
      tiers: { flex: { input: '2', long: long(272_000, { input: '4' }) } },
    }
    expect(merged(row, none, other, mine)).toEqual({
      input: '5',
      output: '30',
      long: [{ above: 271_999, prices: { input: '10', output: '45' } }],
      tiers: { flex: { input: '2', long: long(271_999, { input: '4' }) } },
    })
  })

  test('ask for a choice if they differ; withheld units stay withheld', () => {
    const asked: Difference[] = []
    const other = {
      usual: { input: '3', output: '9', long: [{ above: 100, prices: { output: '20' } }] },
      tiers: {},
    }
    const row = { output: '8', long: [{ above: 100, prices: { output: '16' } }] }
    const joined = merged(row, new Set(['input'] as const), other, (difference) => {
      asked.push(difference)
      return difference.theirs
    })
    expect(joined).toEqual({
      output: '9',
      long: [{ above: 100, prices: { output: '20' } }],
    })
    const of = { tier: '', unit: 'output' } as const
    expect(asked).toContainEqual({ ...of, above: undefined, ours: '8', theirs: '9' })
    expect(asked).toContainEqual({ ...of, above: 100, ours: '16', theirs: '20' })
  })

  test('have the same model if their common text prices are equal', () => {
    expect(isSameModel({ input: '1', output: '2' }, { input: '1' })).toBe(true)
    expect(isSameModel({ input: '1' }, { output: '2' })).toBe(false)
    expect(isOtherModel({ input: '1' }, { output: '2' })).toBe(false)
    expect(isOtherModel({ input: '1', output: '2' }, { input: '1', output: '3' })).toBe(true)
  })
})

describe('the choice between two prices', () => {
  const differences: Difference[] = [
    { tier: '', above: undefined, unit: 'input', ours: '2', theirs: '1' },
    { tier: 'flex', above: 100, unit: 'output', ours: '6', theirs: '3' },
  ]
  const evidence = { provider: 'p', model: 'm', modelsDev: {}, hasSource: true }
  const chosen = (more: Partial<typeof evidence>) =>
    settle(differences, { ...evidence, ...more }).map(({ taken, why }) => `${taken}: ${why}`)

  test('is that of the third list, else of the newer one if it has a source page', () => {
    expect(chosen({ modelsDev: { input: '2' } })).toEqual(['genai-prices: models.dev has the same'])
    expect(chosen({ modelsDev: { input: '1' } })).toEqual(['litellm: models.dev has the same'])
    expect(chosen({ modelsDev: { input: '7' } })).toEqual(['litellm: the newer list'])
    expect(chosen({ hasSource: false })).toEqual([
      'genai-prices: litellm names no page that it is from',
    ])
  })

  test('is reported, with all prices', () => {
    expect(settle(differences, { ...evidence, modelsDev: { input: '1' } })).toEqual([
      {
        provider: 'p',
        model: 'm',
        prices: {
          input: { 'genai-prices': '2', litellm: '1', 'models.dev': '1' },
          'flex output above 100': { 'genai-prices': '6', litellm: '3' },
        },
        taken: 'litellm',
        why: 'models.dev has the same',
      },
    ])
  })

  test('is that of a vendor’s page if one exists', () => {
    const of = { tier: '', above: undefined, unit: 'web_search', ours: '10', theirs: '25' } as const
    const gpt = { ...evidence, provider: 'openai', model: 'gpt-4.1' }
    expect(settle([of], gpt)[0]).toMatchObject({
      taken: 'genai-prices',
      why: expect.stringContaining('https://developers.openai.com/'),
    })
  })
})
