import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { stringify } from 'yaml'
import { insertCalls, type LedgerCall } from '../../../plugins/invoice-check/testing.ts'
import { runCommand } from '../../harness/command.ts'
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts'
import { runPage } from '../../harness/docs-page.ts'
import { ada, adaKey, startTestGateway } from '../../harness/gateway.ts'
import { simulated } from '../plugins/plugin-files.fixture.ts'

const MAIN = new URL('../../../plugins/standard/main.ts', import.meta.url).pathname
const FIXTURES = new URL('../../../plugins/invoice-check/__fixtures__/', import.meta.url).pathname

let folder: string
let database: TestDatabase
let config: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-reconcile-'))
  chmodSync(folder, 0o711)
  database = await createTestDatabase('started')
  config = join(folder, 'gateway.yaml')
  writeFileSync(
    config,
    stringify({
      database: { url: `literal.${database.url}` },
      providers: [
        {
          id: 'openai',
          type: 'generic_compat',
          base_url: 'https://api.openai.com/v1',
          pricing_provider_id: 'openai',
        },
      ],
    }),
  )
  copyFileSync(join(FIXTURES, 'openai-costs.json'), join(folder, 'costs.json'))
})
afterAll(async () => {
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

const gateway = (...args: string[]) => runCommand([...args, '--config', config], { cwd: folder })

async function fill(...calls: LedgerCall[]) {
  await database.sql`truncate accounting.usage_cost_events, accounting.budget_rejected_charges`
  await insertCalls(database.sql, 'usage_cost_events', calls)
}

/** The ledger entry for the costs of the fixture: the alias of the model version that is billed. */
const call: LedgerCall = {
  utc_day: '2026-03-01',
  provider_key: 'openai',
  upstream_model: 'gpt-5-mini',
  pricing_provider_id: 'openai',
  rate_id: 'r1',
  uncached_input_tokens: 53_440,
  cache_read_tokens: 5_760,
  completion_tokens: 10_646,
  cost_pico_usd: '34796000000',
}

test('a file that agrees with the ledger: exit code 0; the commands of docs/invoices.md work', async () => {
  await fill(call)
  const page = JSON.parse(readFileSync(join(FIXTURES, 'openai-costs.json'), 'utf8'))
  page.data[0].results.length = 3
  const file = join(folder, 'agreed.json.gz')
  writeFileSync(file, gzipSync(JSON.stringify(page)))
  const script = join(folder, 'gateway')
  writeFileSync(script, `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@" --config ${config}\n`, {
    mode: 0o755,
  })
  const settings = { GATEWAY: script, PROVIDER: 'openai', FILE: file }
  const { out } = await runPage('invoices.md', settings, folder)
  expect(out).toContain(`file      ${file}: openai-costs, 3 rows`)
  expect(out).toContain('invoice   69846 tokens, 0.034796 USD')
  expect(out).toContain('compared  1 by day and model: 0 differences')
}, 60_000)

test('differences: exit code 1, with the rate that the ledger used and the likely reason', async () => {
  await fill({ ...call, cost_pico_usd: '69592000000' })
  const { out, code } = await gateway('reconcile', '--provider', 'openai', '--file', 'costs.json')
  expect(code).toBe(1)
  expect(out).toContain(`
Same tokens, different price
  2026-03-01  gpt-5-mini
    invoice  53440 input, 5760 cache read, 10646 output, 0.034796 USD
    ledger   1 call, 53440 input, 5760 cache read, 10646 output, 0.069592 USD
    gap      -0.034796 USD
    rate     r1 (no longer in force)
    charged  input 0.25, cache read 0.025, output 2 USD per million
    likely   the vendor charged exactly half: the batch or flex tier
             check the service tier`)
  expect(out).toContain(`
  2026-03-01  assistants api | file search
    invoice  0.25 USD
    likely   the charge is for searches and other tools of the vendor, which the ledger does not record
             book it outside the ledger`)
  const args = ['--provider', 'openai', '--file', 'costs.json', '--tolerance', '51%', '--json']
  const json = await gateway('reconcile', ...args)
  expect(json.code).toBe(1)
  expect(JSON.parse(json.out)).toMatchObject({
    providers: ['openai'],
    from: '2026-03-01',
    to: '2026-03-01',
    files: [{ path: 'costs.json', format: 'openai-costs', rows: 5, has_more: false }],
    compared: 1,
    within_rounding: 1,
    totals: {
      invoice: { tokens: 69_846, cost_usd: '0.034796' },
      ledger: { tokens: 69_846, cost_usd: '0.069592' },
    },
    differences: [
      { kind: 'fee' },
      { kind: 'fee', invoice_minus_ledger: { tokens: {}, cost_usd: '0.25' } },
    ],
    not_compared: [],
  })
}, 60_000)

test('a file that cannot be read: exit code 2, and the message says why', async () => {
  writeFileSync(join(folder, 'other.csv'), 'a,b\n1,2\n')
  const run = async (...args: string[]) => {
    const { err, code, out } = await gateway('reconcile', ...args)
    expect([code, out]).toEqual([2, ''])
    return err
  }
  expect(await run('--provider', 'openai', '--file', 'other.csv')).toContain(
    'gateway: other.csv: unknown file format; it has a, b\nknown formats:\n  openai-usage: ',
  )
  expect(await run('--provider', 'openai', '--file', 'gone.csv')).toContain('gone.csv: ENOENT')
  expect(await run('--provider', 'opnai', '--file', 'costs.json')).toContain(
    'provider opnai does not exist; the config and the ledger have openai',
  )
  expect(await run('--provider', 'openai')).toContain(
    '--file is required\nusage: gateway reconcile --provider ID',
  )
}, 60_000)

test('an unreachable database: exit code 2, because 1 means differences', async () => {
  const { out, err, code } = await runCommand(
    ['reconcile', '--provider', 'openai', '--file', 'costs.json'],
    {
      cwd: folder,
      env: { GATEWAY_CONFIG: config, DATABASE_URL: 'postgres://a@127.0.0.1:9/none' },
    },
  )
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain('gateway: ')
}, 60_000)

test('calls that the gateway has served agree with a usage file of them', async () => {
  const served = await startTestGateway({ ...simulated, users: [ada] })
  try {
    const today = Math.floor(Date.now() / 86_400_000)
    const usages = await Promise.all(
      ['one', 'two words', 'three more words'].map(async (content) => {
        const reply = await fetch(`${served.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${adaKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
        })
        return ((await reply.json()) as { usage: Record<string, number> }).usage
      }),
    )
    const sum = (name: string) => usages.reduce((total, usage) => total + (usage[name] ?? 0), 0)
    const input = sum('prompt_tokens')
    const output = sum('completion_tokens')
    const start = today * 86_400
    const usage = (tokens: number) =>
      `start_time,model,num_model_requests,input_tokens,output_tokens\n${start},simulator-1,3,${input},${tokens}\n`
    writeFileSync(join(folder, 'usage.csv'), usage(output))
    writeFileSync(join(folder, 'more.csv'), usage(output + 1))
    const micros = 2 * (input + 3 * output)
    const cost = `start_time,amount_value,line_item\n${start},0.${`${micros}`.padStart(6, '0')},"simulator-1, output"\n`
    writeFileSync(join(folder, 'double.csv'), cost)
    const file = join(folder, 'served.yaml')
    const database = { url: `literal.${served.databaseUrl}` }
    writeFileSync(file, stringify({ ...simulated, users: [ada], database }))
    const check = (...files: string[]) => {
      const args = files.flatMap((name) => ['--file', name])
      const line = ['reconcile', '--provider', 'sim', ...args, '--config', file]
      return runCommand(line, { cwd: folder })
    }
    const agreed = await check('usage.csv')
    expect([agreed.code, agreed.err]).toEqual([0, ''])
    const more = await check('more.csv')
    expect([more.code, more.out]).toEqual([1, expect.stringContaining('gap      +1 output\n')])
    const dear = await check('usage.csv', 'double.csv')
    expect([dear.code, dear.out]).toEqual([
      1,
      expect.stringMatching(
        /rate {5}\S+: input 1, output 3 USD per million\n.*\n? *likely {3}the vendor charged exactly twice/,
      ),
    ])
  } finally {
    await served.stop()
  }
}, 60_000)
