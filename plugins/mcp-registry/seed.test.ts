import { expect, test } from 'bun:test'
import type { DeclaredServer } from './config.ts'
import { planSeed } from './seed.ts'
import type { ServerRow } from './store.ts'

const entry: DeclaredServer = {
  server_key: 'docs',
  display_name: 'Docs',
  server_url: 'https://docs.example.com/mcp',
  allow_private: false,
}

function plan(declared: readonly DeclaredServer[], existing: readonly ServerRow[] = []) {
  return planSeed(declared, existing, () => 'new')
}

/** The row that a first start has written. */
function rowOf(declared: DeclaredServer, rest: Partial<ServerRow> = {}): ServerRow {
  const [inserted] = plan([declared]).inserts
  return { status: 'active', admin_fields: [], ...inserted, ...rest } as ServerRow
}

test('a new entry is inserted with its defaults, an unchanged one writes nothing', () => {
  expect(plan([entry]).inserts).toMatchObject([
    { ...entry, id: 'new', auth_mode: 'none', auth_config: {}, timeout_ms: 30_000 },
  ])
  const { inserts, updates, warnings } = plan([entry], [rowOf(entry)])
  expect([inserts, updates, warnings]).toEqual([[], [], []])
})

test('a changed entry writes what it states and nothing else', () => {
  const changed = { ...entry, display_name: 'Other' }
  const { updates } = plan([changed], [rowOf({ ...entry, timeout_ms: 5000 })])
  expect(updates).toHaveLength(1)
  expect(updates[0]?.set).toMatchObject({ display_name: 'Other', allow_private: false })
  expect(updates[0]?.set).not.toHaveProperty('timeout_ms')
  expect(updates[0]?.set).not.toHaveProperty('auth_mode')
  expect(updates[0]?.set).not.toHaveProperty('status')
})

test('changes of an administrator stay, with a warning about the file', () => {
  const row = rowOf(entry, {
    status: 'disabled',
    display_name: 'Ours',
    admin_fields: ['display_name', 'server_url'],
  })
  const unchanged = plan([entry], [row])
  expect(unchanged.updates).toEqual([])
  expect(unchanged.warnings.map(({ path, message }) => [path.join('.'), message])).toEqual([
    ['mcp.servers.0', 'docs was disabled by an administrator and stays disabled'],
    [
      'mcp.servers.0.display_name',
      'an administrator has set its display_name, so the value in the file is ignored',
    ],
  ])
  const { updates } = plan([{ ...entry, display_name: 'Again', timeout_ms: 2000 }], [row])
  expect(updates[0]?.set).toEqual({
    timeout_ms: 2000,
    allow_private: false,
    config_hash: expect.any(String),
  })
})

test('a server that is not in the file any more stays', () => {
  const { inserts, updates, warnings } = plan([], [rowOf(entry)])
  expect([inserts, updates, warnings]).toEqual([[], [], []])
})
