import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commands, UsageError } from 'model-gateway/plugin'
import {
  settledCall,
  setUpPlugin,
  testAccountingSink,
  testPlugin,
  withFault,
} from 'model-gateway/testing'
import plugin from './src/index.ts'
import { usd } from './src/report.ts'
import { rowOf } from './src/sink.ts'
import { type CallRow, openStore } from './src/store.ts'

const folder = mkdtempSync(join(tmpdir(), 'sqlite-sink-'))
const files = { directory: () => folder }
afterAll(() => rmSync(folder, { recursive: true }))

function written(): string[] {
  const file = join(folder, 'calls.sqlite')
  if (!existsSync(file)) return []
  const db = new Database(file, { readonly: true, safeIntegers: true })
  const rows = db.query('select * from calls').all()
  db.close()
  return rows.map((row) =>
    JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  )
}

testPlugin({ plugin, config: { file: 'other.sqlite' } })

testAccountingSink({ plugin, capabilities: { files }, written })

const priced = {
  kind: 'ledger',
  pricingStatus: 'priced',
  unpricedReason: undefined,
  costPicoUsd: 1n,
} as const
const row = (more: Partial<CallRow>): CallRow => ({ ...rowOf(settledCall(), priced), ...more })

describe('the store', () => {
  function fresh() {
    return openStore(join(folder, `${crypto.randomUUID()}.sqlite`))
  }

  test('stores a repeated call once; the same id of another owner is another call', () => {
    const store = fresh()
    expect(store.add(row({}))).toBe(true)
    expect(store.add(row({ cost_pico_usd: 5n }))).toBe(false)
    expect(store.add(row({ owner: 'user:another' }))).toBe(true)
    expect(store.spend('model', '')).toEqual([{ name: 'small-model', calls: 2n, pico_usd: 2n }])
    store.close()
  })

  test('large sums are exact', () => {
    const store = fresh()
    const most = 2n ** 63n - 1n
    for (const request_id of ['a', 'b', 'c']) store.add(row({ request_id, cost_pico_usd: most }))
    expect(store.spend('owner', '')[0]?.pico_usd).toBe(3n * most)
    expect(usd(3n * most)).toBe('27670116.110564327421')
    expect(usd(7n)).toBe('0.000000000007')
    store.close()
  })

  test('leaves out rejected and earlier calls', () => {
    const store = fresh()
    store.add(row({ request_id: 'r', kind: 'rejected', pricing_status: null }))
    store.add(row({ request_id: 'e', at: '2025-12-31T23:59:59.999Z' }))
    expect(store.spend('model', '2026-01-01')).toEqual([])
    store.close()
  })

  test('two processes can open the file', () => {
    const path = join(folder, 'shared.sqlite')
    const [one, other] = [openStore(path), openStore(path)]
    one.add(row({ request_id: 'one' }))
    other.add(row({ request_id: 'other' }))
    expect(one.spend('model', '')[0]?.calls).toBe(2n)
    one.close()
    other.close()
  })

  test('does not open a file of a newer version', () => {
    const path = join(folder, 'newer.sqlite')
    const db = new Database(path, { create: true })
    db.run('pragma user_version = 2')
    db.close()
    expect(() => openStore(path)).toThrow('newer version')
  })
})

describe('gateway spend-report', () => {
  async function report(...args: readonly string[]): Promise<string[]> {
    const own = mkdtempSync(join(tmpdir(), 'sqlite-sink-'))
    const store = openStore(join(own, 'calls.sqlite'))
    store.add(row({ request_id: 'cheap', model: 'small', cost_pico_usd: 1_500_000n }))
    store.add(row({ request_id: 'dear', model: 'large', cost_pico_usd: 2_000_000_000_000n }))
    store.close()
    const directory = { directory: () => own }
    const bench = await setUpPlugin({ plugin, capabilities: { files: directory } })
    try {
      const lines: string[] = []
      await bench.of(commands)[0]?.run(args, (line) => lines.push(line.trim()))
      return lines
    } finally {
      await bench.dispose()
      rmSync(own, { recursive: true })
    }
  }

  test('lists the highest spend first', async () => {
    expect(await report()).toEqual([
      '1        2.000000000000  large',
      '1        0.000001500000  small',
    ])
    expect(await report('--by', 'owner')).toHaveLength(1)
    expect(await report('--since', '2099-01-01')).toEqual(['no spend'])
  })

  test.each([[['--by', 'day']], [['--since', 'monday']], [['--nonsense']]])(
    'refuses %o',
    async (args) => {
      const error = await report(...args).catch((reason) => reason)
      expect(error).toBeInstanceOf(UsageError)
    },
  )
})

test('without a data directory the gateway does not start', async () => {
  const broken = withFault(files, 'directory', { kind: 'throw', error: new Error('disk full') })
  const bench = await setUpPlugin({ plugin, capabilities: { files: broken } })
  expect(String(bench.error)).toContain('disk full')
})
