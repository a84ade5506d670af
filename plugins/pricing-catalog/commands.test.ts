import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { buildCatalog, type Catalog, withOverrides } from './catalog.ts'
import { priceCommands } from './commands.ts'
import plugin from './index.ts'
import { bundledSnapshot } from './snapshot.ts'
import { storeCatalog } from './store.ts'

let database: TestDatabase
let capability: Database
const folder = mkdtempSync(join(tmpdir(), 'gateway-prices-'))
beforeAll(async () => {
  database = await createTestDatabase()
  capability = await database.forPlugin('plugin.pricing-catalog', plugin.manifest.migrations ?? [])
})
afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true })
})

const bundled = buildCatalog(bundledSnapshot)

async function run(line: string, inForce: Catalog = bundled) {
  const now = () => new Date('2026-11-27T12:00:00Z')
  const commands = priceCommands({
    bundled,
    inForce: () => inForce,
    database: capability,
    now,
  })
  const command = commands.find(({ name }) => line.startsWith(name))
  const words = line
    .slice(command?.name.length)
    .split(' ')
    .filter((word) => word !== '')
  const lines: string[] = []
  const code = await command?.run(words, (text) => lines.push(text))
  return { code: code ?? 0, out: lines.join('\n') }
}

describe('prices show', () => {
  test('prints prices by tier and length, their source, and the other names', async () => {
    const { code, out } = await run('prices show gpt-6-sol --provider openai')
    expect(code).toBe(0)
    expect(out).toMatch(/^openai gpt-6-sol\n {2}from genai-prices [\d.]+, litellm [\d.]+/)
    expect(out).toContain('as of 20')
    expect(out).toMatch(/USD per million tokens +usual +batch +fast +flex +priority\n/)
    expect(out).toMatch(/\n {4}input +2 +1 +4 +1 +4\n {6}prompts above 272000 +4 +2 +8 +2 +8\n/)
    expect(out).toMatch(/USD per thousand +usual\n {4}web_search +10\n/)
    expect((await run('prices show claude-opus-4-5-20251101')).out).toMatch(
      /^anthropic claude-opus-4-5-20251101\n.*\n {2}also known as .*claude-opus-4-5[,\n]/,
    )
  })

  test('accepts a pattern, and prints the config pattern of a price', async () => {
    const { out } = await run('prices show gpt-4.1* --provider openai')
    const models = out.split('\n').filter((line) => line.startsWith('openai '))
    expect(models).not.toContain('openai gpt-4o')
    expect(models).toContain('openai gpt-4.1-mini')
    const own = { pricing_provider_id: 'own', model: 'llama-*', input_usd_per_million: '1' }
    const priced = await run('prices show llama-7b', withOverrides(bundled, [own]))
    expect(priced.out).toContain(
      'own llama-7b\n  from pricing.overrides of the config, under llama-*',
    )
    expect((await run('prices show nothing-*')).code).toBe(1)
  })

  test('prints each list that has the model, and their conflicts', async () => {
    const { out } = await run('prices show gpt-4.1')
    expect(out).toMatch(/^azure gpt-4\.1\n/)
    expect(out).toMatch(/\n\nopenai gpt-4\.1\n/)
    expect(out).toContain('the lists disagree on web_search; used is genai-prices: https://')
  })

  test('prints an override, and the prices that it replaces', async () => {
    const override = {
      pricing_provider_id: 'openai',
      model: 'gpt-5',
      input_usd_per_million: '7.5',
      tiers: { night: { input_usd_per_million: '1' } },
      hours: [{ tier: 'night', utc: ['22:00-06:00'], weekdays: [6, 7], except: ['2027-01-01'] }],
    }
    const { out } = await run(
      'prices show gpt-5 --provider openai',
      withOverrides(bundled, [override]),
    )
    expect(out).toMatch(
      /from pricing\.overrides of the config\n.* +usual +night\n {4}input +7\.5 +1\n/,
    )
    expect(out).toContain('night is at 22:00-06:00 UTC on Sat Sun, but not on 2027-01-01\n')
    expect(out).toMatch(/\n {2}instead of\n {2}from genai-prices/)
  })

  test('suggests similar names for an unknown model', async () => {
    expect(await run('prices show gpt-5.55')).toEqual({
      code: 1,
      out: 'no price list has the model gpt-5.55; did you mean "gpt-5.5"?\nits calls are unpriced until pricing.overrides sets its prices',
    })
    await expect(run('prices show gpt-5 --provider openay')).rejects.toThrow(
      'did you mean "openai"?',
    )
    await expect(run('prices show')).rejects.toThrow('exactly one model is required')
  })
})

describe('prices diff', () => {
  const [, ...openai] = Object.entries(bundledSnapshot.openai ?? {})

  test('compares a file with the bundled list: added, removed and changed', async () => {
    const file = join(folder, 'other.json')
    const changed = openai.map(([name, rows]) =>
      name === 'gpt-5-nano'
        ? [name, [{ input: '1', tiers: { flex: { output: '2' } } }]]
        : [name, rows],
    )
    const list = { ...Object.fromEntries(changed), 'gpt-0': [{ input: '3' }] }
    const providers = { ...bundledSnapshot, openai: list }
    writeFileSync(file, JSON.stringify({ date: '2026-01-01', providers }))
    const { out } = await run(`prices diff ${file}`)
    const lines = out.split('\n')
    expect(lines[0]).toMatch(/^\S+other\.json, as of 2026-01-01 → bundled, as of 20/)
    expect(lines).toContain('- openai gpt-0: input 3')
    expect(out).toMatch(/\n~ openai gpt-5-nano: input 1 → 0\.05, flex output 2 → 0\.2, /)
    expect(lines.at(-1)).toMatch(/^1 added, 1 removed, \d+ changed$/)
  })

  test('compares with the previous list in the database', async () => {
    expect((await run('prices diff')).out).toBe('the database has no previous price list')
    const before = { p: { same: [{ input: '1' }], dear: [{ input: '2' }], old: [{ input: '3' }] } }
    const after = {
      p: {
        same: [{ input: '1' }],
        dear: [{ input: '4', long: [{ above: 10, prices: { input: '5' } }] }],
        new: [{ input: '6', from: '2027-01-01' }],
      },
    }
    await storeCatalog(capability, buildCatalog(before))
    expect((await run('prices diff')).out).toBe('the database has no previous price list')
    await storeCatalog(capability, buildCatalog(after))
    const { out } = await run('prices diff')
    expect(out.split('\n').slice(1)).toEqual([
      '~ p dear: input 2 → 4, input above 10 none → 5',
      '+ p new: from 2027-01-01: input 6',
      '- p old: input 3',
      '1 added, 1 removed, 1 changed',
    ])
  })

  test('refuses a file that is not a price list', async () => {
    const file = join(folder, 'not.json')
    writeFileSync(file, '{}')
    await expect(run(`prices diff ${file}`)).rejects.toThrow(
      'is not a snapshot of prices: it has no providers',
    )
    await expect(run(`prices diff ${folder}/absent.json`)).rejects.toThrow(
      'is not a snapshot of prices',
    )
  })
})

test('prices update reports missing tools if the packages are not available', async () => {
  const { PATH } = process.env
  process.env.PATH = folder
  try {
    const { code, out } = await run('prices update --dry-run')
    expect(code).toBe(1)
    expect(out).toStartWith(
      'the price list is unchanged: reading the price lists requires python3 and pip',
    )
  } finally {
    process.env.PATH = PATH
  }
})
