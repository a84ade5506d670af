import { expect, test } from 'bun:test'
import type { SnapshotRow } from '../_shared/sheet.ts'
import { addOther } from './join.ts'
import type { PriceList } from './lists.ts'
import type { Model } from './models.ts'
import type { Disagreement } from './settle.ts'

const list: PriceList = { id: 'seller', litellm: ['seller'], nameOf: (key) => key }
const usd = (input: number, more = {}) => ({
  litellm_provider: 'seller',
  mode: 'chat',
  source: 'https://seller.example/prices',
  input_cost_per_token: `${input}e-06`,
  ...more,
})

/** The result for one model of the first list, as `names: price`. */
function joined(
  names: string[],
  row: SnapshotRow,
  litellm: Record<string, Record<string, string>>,
) {
  const disagreements: Disagreement[] = []
  const match = { starts_with: names[0] ?? '' }
  const models: Model[] = [{ names: [...names], rows: [row], withheld: new Set(), match }]
  const sources = { date: '2026-11-01', genai: [], litellm, modelsDev: { prices: {} } }
  addOther(models, list, sources, disagreements)
  const text = models.map(({ names, rows }) => `${names.join(' ')}: ${rows[0]?.input}`)
  return { text, models, disagreements }
}

test('a name whose prices changed is a separate model; the others stay', () => {
  const moved = { latest: usd(5), dated: usd(1) }
  expect(joined(['own', 'latest', 'dated'], { input: '1' }, moved).text).toEqual([
    'own dated: 1',
    'latest: 5',
  ])
})

test('the main name can change, too: matching names stay, unmatched names follow it', () => {
  expect(
    joined(['own', 'us.own', 'other'], { input: '1' }, { own: usd(5), 'us.own': usd(1) }).text,
  ).toEqual(['us.own other: 1', 'own: 5'])
  expect(joined(['own', 'other'], { input: '1' }, { own: usd(5) }).text).toEqual(['own other: 5'])
  expect(
    joined(['own', 'own-v1:0', 'us.own'], { input: '1' }, { own: usd(5), 'us.own': usd(1) }).text,
  ).toEqual(['us.own: 1', 'own own-v1:0: 5'])
})

test('a price without a source page changes nothing', () => {
  const { source: _, ...vague } = usd(5, { input_cost_per_token_flex: '4e-06' })
  const { models, disagreements } = joined(['own'], { input: '1' }, { own: vague })
  expect(models).toMatchObject([{ names: ['own'], rows: [{ input: '1' }] }])
  expect(models[0]?.rows[0]).not.toHaveProperty('tiers')
  expect(disagreements).toMatchObject([{ model: 'own', taken: 'genai-prices' }])
})

test('a new name belongs to the model with its pattern and price, else it is a new model', () => {
  const more = { 'own-2026': usd(1), 'own-large': usd(9), stranger: usd(1) }
  expect(joined(['own'], { input: '1' }, more).text).toEqual([
    'own own-2026: 1',
    'own-large: 9',
    'stranger: 1',
  ])
})

test('a row gets prices that only the other list has, with their source', () => {
  const own = usd(1, { input_cost_per_token_flex: '5e-07', output_cost_per_token: '4e-06' })
  const row = { input: '1', by: ['genai-prices'] }
  expect(joined(['own'], row, { own }).models[0]?.rows).toEqual([
    {
      input: '1',
      output: '4',
      tiers: { flex: { input: '0.5' } },
      by: ['genai-prices', 'litellm'],
    },
  ])
})

test('models.dev adds text models that no other list has', () => {
  const rates = (input: string, more = {}) => ({
    standard: [{ start: null, rates: { input, output: '2.0', ...more } }],
  })
  const openai = {
    known: rates('9'),
    mine: {
      standard: [
        ...rates('7').standard,
        { start: '2026-06-01', rates: { input: '1', output: '2' } },
      ],
    },
    'mine-image': rates('1'),
    preview: rates('0.0'),
    tiered: rates('1', { tiers: [{}] }),
  }
  const models: Model[] = [{ names: ['known'], rows: [{ input: '1' }], withheld: new Set() }]
  const sources = { date: '2026-11-01', genai: [], litellm: {}, modelsDev: { prices: { openai } } }
  addOther(models, { ...list, id: 'openai' }, sources, [])
  expect(models.slice(1)).toEqual([
    {
      names: ['mine'],
      withheld: new Set(),
      rows: [{ input: '1', output: '2', by: ['model-prices'] }],
    },
  ])
})
