import { expect, test } from 'bun:test'
import { buildCatalog, withOverrides } from './catalog.ts'
import { bundledSnapshot, type SnapshotRow } from './snapshot.ts'

const row: SnapshotRow = {
  input: '1',
  output: '2',
  cache_read: '3',
  cache_write: '4',
  tiered: ['input'],
  longest_prompt: 10,
  from: '2025-01-01',
  until: '2026-01-01',
}
const idOf = (changes: SnapshotRow, provider = 'p', model = 'm') =>
  buildCatalog({ [provider]: { [model]: [{ ...row, ...changes }] } })
    .get(provider)
    ?.get(model)?.[0]?.id

test('the same rate has the same id in every release', () => {
  expect(idOf({})).toBe('ed608c377d89ab9fc57f02acd486a298')
  expect(idOf({ tiered: undefined, longest_prompt: undefined })).toBe(
    '2acf2899bbde38f757ade93b7b49a2fd',
  )
})

test('rates that differ in a price, a name or a date have ids of their own', () => {
  const written = { pricing_provider_id: 'p', model: 'm', input_usd_per_million: '1' }
  const others = [
    idOf({}),
    idOf({}, 'other'),
    idOf({}, 'p', 'other'),
    idOf({ input: '5' }),
    idOf({ output: '5' }),
    idOf({ cache_read: '5' }),
    idOf({ cache_write: '5' }),
    idOf({ tiered: ['output'] }),
    idOf({ longest_prompt: 20 }),
    idOf({ from: '2025-02-02' }),
    idOf({ until: '2026-02-02' }),
    buildCatalog({ p: { m: [{ input: '1' }] } })
      .get('p')
      ?.get('m')?.[0]?.id,
    withOverrides(new Map(), [written]).get('p')?.get('m')?.[0]?.id,
  ]
  expect(new Set(others).size).toBe(others.length)
})

test('every price list that the page on providers names is bundled', async () => {
  const page = new URL('../../docs/providers/README.md', import.meta.url)
  const rows = (await Bun.file(page).text()).matchAll(
    /^\|[^|]+\| `https:[^`]+` +\| `([^`]+)` +\|$/gm,
  )
  const named = [...rows].map(([, id]) => id as string)
  expect(named).toContain('openai')
  expect(named.filter((id) => bundledSnapshot[id] === undefined)).toEqual([])
})
