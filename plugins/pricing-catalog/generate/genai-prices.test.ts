import { describe, expect, test } from 'bun:test'
import { type ListedModel, rowsOf } from './genai-prices.ts'

const TODAY = '2026-11-01'
const model = (prices: ListedModel['prices'], variants: ListedModel['price_variants'] = []) => ({
  id: 'm',
  match: { equals: 'm' },
  prices,
  price_variants: variants,
})
const rows = (...stated: Parameters<typeof model>) => rowsOf(model(...stated), TODAY).rows
const from = (year: number, month: number, day: number) => ({
  start_date: [year, month, day] as const,
})

test('reads prices of all known units, and no others', () => {
  const prices = {
    input_mtok: '0.3',
    output_mtok: '2.50',
    cache_write_1h_mtok: '0.6',
    input_audio_mtok: '1',
    cache_audio_read_mtok: '0.1',
    web_searches_kcount: '10',
    requests_kcount: '12',
    input_mchars: '15',
    social_searches_kcount: '5',
  }
  expect(rows(prices)).toEqual([
    {
      input: '0.3',
      output: '2.5',
      cache_write_1h: '0.6',
      input_audio: '1',
      cached_audio: '0.1',
      web_search: '10',
      request: '12',
      character: '0.015',
    },
  ])
})

test('reads the prices of every prompt length, shortest first', () => {
  const tiers = [
    { start: 1_000_000, price: '20' },
    { start: 200_000, price: '10' },
  ]
  expect(rows({ input_mtok: { base: '5', tiers }, output_mtok: '25' })).toEqual([
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

test('skips prices finer than a pico-USD, and output with two prices', () => {
  const prices = { input_mtok: '1', cache_write_mtok: '0.08333333333333334' }
  expect(rows(prices)).toEqual([{ input: '1' }])
  const read = rowsOf(
    model({ input_mtok: '2', output_mtok: '8', output_reasoning_mtok: '3' }),
    TODAY,
  )
  expect(read).toEqual({ rows: [{ input: '2' }], withheld: new Set(['output']) })
})

test('dates: each price applies until the next one starts, and past prices are skipped', () => {
  const dated = [
    { prices: { input_mtok: '10' } },
    { constraint: from(2025, 6, 10), prices: { input_mtok: '2' } },
    { constraint: from(2027, 1, 1), prices: { input_mtok: '1' } },
  ]
  expect(rows(dated)).toEqual([
    { input: '2', from: '2025-06-10', until: '2027-01-01' },
    { input: '1', from: '2027-01-01' },
  ])
})

describe('hours', () => {
  const peak = (hour: number, output = '0.5') => ({
    constraint: { start_time: [hour, 0], end_time: [hour + 3, 30] },
    prices: { input_mtok: '0.2', output_mtok: output },
  })
  const usual = { prices: { input_mtok: '0.1', output_mtok: '0.5' } }
  const days = { weekdays: [1, 2], except: ['2026-10-01'] }

  test('are a separate tier if their days are known', () => {
    expect(rowsOf(model([usual, peak(1), peak(6)]), TODAY, days).rows).toEqual([
      {
        input: '0.1',
        output: '0.5',
        tiers: { peak: { input: '0.2', output: '0.5' } },
        hours: [{ tier: 'peak', utc: ['01:00-04:30', '06:00-09:30'], ...days }],
      },
    ])
  })

  test('else only prices that are the same all day count', () => {
    const read = { rows: [{ output: '0.5' }], withheld: new Set(['input']) }
    expect(rowsOf(model([usual, peak(1)]), TODAY)).toEqual(read as never)
    const three = rowsOf(model([usual, peak(1), peak(6, '0.9')]), TODAY, days)
    expect(three).toEqual({ rows: [{}], withheld: new Set(['input', 'output']) })
  })
})

describe('tiers', () => {
  const usual = {
    input_mtok: '4',
    output_mtok: '8',
    cache_read_mtok: '1',
    web_searches_kcount: '10',
  }

  test('have the standard prices for omitted units, and fees only where they apply', () => {
    const variants = [
      { when: { service_tier: 'default' }, prices: {} },
      { when: { service_tier: 'flex' }, prices: { input_mtok: '2', output_mtok: '4' } },
      { when: { processing: 'batch' }, prices: { output_mtok: '3' } },
      { when: { speed: 'fast' }, prices: { input_mtok: '9', web_searches_kcount: '20' } },
      { when: { search_type: 'fast' }, prices: { web_searches_kcount: '1' } },
    ]
    expect(rows(usual, variants)[0]?.tiers).toEqual({
      flex: { input: '2', output: '4', cache_read: '1' },
      batch: { input: '4', output: '3', cache_read: '1' },
      fast: { input: '9', output: '8', cache_read: '1', web_search: '20' },
    })
  })

  test('have dates: past tiers apply, later ones from their day on', () => {
    const flex = { service_tier: 'flex' }
    const variants = [
      { when: flex, constraint: from(2027, 2, 1), prices: { input_mtok: '1' } },
      { when: flex, constraint: from(2026, 10, 12), prices: { input_mtok: '2' } },
    ]
    expect(rows({ input_mtok: '4' }, variants)).toEqual([
      { input: '4', tiers: { flex: { input: '2' } }, until: '2027-02-01' },
      { input: '4', tiers: { flex: { input: '1' } }, from: '2027-02-01' },
    ])
  })
})
