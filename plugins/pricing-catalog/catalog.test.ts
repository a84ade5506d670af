import { expect, test } from 'bun:test'
import type { SnapshotRow } from './_shared/sheet.ts'
import { buildCatalog, withOverrides } from './catalog.ts'
import { bundledSnapshot } from './snapshot.ts'

const row: SnapshotRow = {
  input: '1',
  output: '2',
  cache_read: '3',
  cache_write: '4',
  long: [{ above: 10, prices: { input: '2' } }],
  tiers: { flex: { input: '0.5' } },
  from: '2025-01-01',
  until: '2026-01-01',
}
const idOf = (changes: SnapshotRow, provider = 'p', model = 'm') =>
  buildCatalog({ [provider]: { [model]: [{ ...row, ...changes }] } })
    .get(provider)
    ?.get(model)?.[0]?.id

test('the same rate has the same id in every release', () => {
  expect(idOf({})).toBe('8fb05ed31509193c9d203e784babe366')
})

test('rates that differ in a price, a name or a date have different ids', () => {
  const written = { pricing_provider_id: 'p', model: 'm', input_usd_per_million: '1' }
  const others = [
    idOf({}),
    idOf({}, 'other'),
    idOf({}, 'p', 'other'),
    idOf({ input: '5' }),
    idOf({ output: '5' }),
    idOf({ cache_read: '5' }),
    idOf({ cache_write: '5' }),
    idOf({ long: [] }),
    idOf({ long: [{ above: 20, prices: { input: '2' } }] }),
    idOf({ tiers: { priority: { input: '0.5' } } }),
    idOf({ web_search: '10' }),
    idOf({ hours: [{ tier: 'flex', utc: ['01:00-02:00'] }] }),
    idOf({ from: '2025-02-02' }),
    idOf({ until: '2026-02-02' }),
    buildCatalog({ p: { m: [{ input: '1' }] } })
      .get('p')
      ?.get('m')?.[0]?.id,
    withOverrides(new Map(), [written]).get('p')?.get('m')?.[0]?.id,
  ]
  expect(new Set(others).size).toBe(others.length)
})

test('every price list in the docs of providers is bundled', async () => {
  const page = new URL('../../docs/providers/README.md', import.meta.url)
  // The last column of the presets.
  const rows = (await Bun.file(page).text()).matchAll(/^\|.*`https?:.*\| `([\w-]+)` +\|$/gm)
  const named = [...rows].map(([, id]) => id as string)
  expect(named).toContain('openai')
  expect(named.filter((id) => bundledSnapshot[id] === undefined)).toEqual([])
})
