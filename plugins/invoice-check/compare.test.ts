import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PricingSource } from 'model-gateway/accounting'
import { reconcileCommand } from './command.ts'
import type { LedgerSums } from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'invoice-compare-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const dayOf = (text: string) => Date.parse(text) / 86_400_000
let files = 0

function file(header: string, ...rows: string[]): string {
  files += 1
  const path = join(folder, `${files}.csv`)
  writeFileSync(path, [header, ...rows].join('\n'))
  return path
}

function sums(day: string, changes: Partial<LedgerSums> = {}): LedgerSums {
  return {
    day: dayOf(day),
    upstreamModel: 'gpt-5',
    pricingModel: 'gpt-5',
    modelKey: 'm',
    pricingProviderId: 'openai',
    rateId: 'r1',
    status: 'priced',
    unpricedReason: null,
    rejection: null,
    rows: 1n,
    input: 0n,
    cacheRead: 0n,
    cacheWrite: 0n,
    output: 0n,
    reasoning: 0n,
    cost: 0n,
    ...changes,
  }
}

interface Found {
  readonly kind: string
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly reasons: readonly { readonly code: string; readonly why: string }[]
  readonly rates: readonly unknown[]
  readonly invoice_minus_ledger: unknown
}

async function check(
  paths: readonly string[],
  ledger: readonly LedgerSums[],
  args: readonly string[] = [],
  prices?: PricingSource,
) {
  const command = reconcileCommand({
    store: {
      sums: (_, start, end) =>
        Promise.resolve(ledger.filter(({ day }) => day >= start && day < end)),
      providers: () => Promise.resolve([]),
    },
    providers: () => ['openai'],
    prices: () => prices,
    clock: { now: () => new Date('2026-03-10T12:00:00Z') },
  })
  let text = ''
  const given = ['--provider', 'openai', ...paths.flatMap((path) => ['--file', path])]
  const code = await command.run([...given, '--json', ...args], (line) => {
    text += line
  })
  const { differences, ...report } = JSON.parse(text) as { differences: readonly Found[] }
  return {
    code,
    report: report as Record<string, unknown>,
    differences,
    found: differences.map(({ kind, from, subject, reasons }) =>
      [kind, from, subject, ...reasons.map(({ code }) => code)].join(' '),
    ),
  }
}

const USAGE =
  'start_time,model,service_tier,num_model_requests,input_tokens,input_cached_tokens,output_tokens'
const COSTS = 'start_time,amount_value,line_item,quantity'

test('differently counted cached and reasoning tokens are recognised', async () => {
  const path = file(
    USAGE,
    '2026-03-01,gpt-5,,1,1000,300,50',
    '2026-03-02,gpt-5,,1,1300,0,50',
    '2026-03-03,gpt-5,,1,1000,0,90',
    '2026-03-05,gpt-5,,2,1001,0,50',
  )
  const counts = { input: 1000n, output: 50n }
  const { found } = await check(
    [path],
    [
      sums('2026-03-01', counts),
      sums('2026-03-02', { ...counts, cacheRead: 300n }),
      sums('2026-03-03', { ...counts, reasoning: 40n }),
      sums('2026-03-05', { ...counts, status: 'legacy_estimated' }),
    ],
  )
  expect(found).toEqual([
    'tokens_differ 2026-03-01 gpt-5 cached_counted_otherwise',
    'tokens_differ 2026-03-02 gpt-5 cached_counted_otherwise',
    'tokens_differ 2026-03-03 gpt-5 reasoning_counted_otherwise',
    'tokens_differ 2026-03-05 gpt-5 estimated past_gateway',
  ])
})

test("a different price is shown with the ledger's rate and likely reasons", async () => {
  const path = file(
    COSTS,
    '2026-03-01,0.5,"flex | gpt-5, input",1000000',
    '2026-03-02,1.1,"gpt-5, input",1000000',
    '2026-03-03,0.97,"gpt-5, input",1000000',
    '2026-03-04,1.03,"gpt-5, input",1000000',
  )
  const call = { input: 1_000_000n, cost: 10n ** 12n }
  const ledger = [
    sums('2026-03-01', call),
    sums('2026-03-02', call),
    sums('2026-03-03', call),
    sums('2026-03-04', { input: 500_000n, cost: 5n * 10n ** 11n }),
    sums('2026-03-04', { input: 500_000n, cost: 5n * 10n ** 11n, rateId: 'r0' }),
  ]
  const { found, differences } = await check([path], ledger, [], {
    resolve: () => ({ status: 'unpriced', reason: 'model_not_found' }),
    rates: () => ({
      status: 'priced',
      rateId: 'r1',
      source: 'bundled',
      usual: { prices: { input: '1', output: '8' }, longPrompts: [] },
      tiers: {},
    }),
  })
  expect(found).toEqual([
    'price_differs 2026-03-01 gpt-5 other_tier half_price discount',
    'price_differs 2026-03-02 gpt-5 regional_price price_list',
    'price_differs 2026-03-03 gpt-5 discount',
    'price_differs 2026-03-04 gpt-5 rate_changed price_list',
  ])
  expect(differences[3]?.rates).toEqual([
    { id: 'r1', is_current: true, prices: { input: '1', output: '8' } },
    { id: 'r0', is_current: false, prices: {} },
  ])
})

test('a day that just ended may not be closed, and a name may differ', async () => {
  const path = file(USAGE, '2026-03-08,gpt-5-chat-0,,1,10,0,1', '2026-03-09,gpt-4,,1,10,0,1')
  const { found, differences } = await check(
    [path],
    [
      sums('2026-03-08', { input: 10n, output: 1n, upstreamModel: 'gpt-5-chat' }),
      sums('2026-03-09', { input: 10n, output: 1n, upstreamModel: 'gpt-4' }),
      sums('2026-03-09', { input: 5n, upstreamModel: 'o3' }),
    ],
  )
  expect(found).toEqual([
    'not_in_ledger 2026-03-08 gpt-5-chat-0 other_name past_gateway',
    'not_in_invoice 2026-03-08 gpt-5-chat other_account not_billed',
    'not_in_invoice 2026-03-09 o3 day_not_closed other_account not_billed',
  ])
  expect(differences[0]?.reasons[0]?.why).toContain('gpt-5-chat, gpt-4')
  const mapped = await check(
    [path],
    [
      sums('2026-03-08', { input: 10n, output: 1n, upstreamModel: 'gpt-5-chat' }),
      sums('2026-03-09', { input: 10n, output: 1n, upstreamModel: 'gpt-4' }),
    ],
    ['--model-map', 'gpt-5-chat-0=gpt-5-chat'],
  )
  expect([mapped.code, mapped.found]).toEqual([0, []])
})

test('costs only: unpriced calls, calls without usage, and differences that need tokens', async () => {
  const path = file(
    COSTS,
    '2026-03-01,0.3,"gpt-5, input"',
    '2026-03-02,0.3,"gpt-5, input"',
    '2026-03-03,0.3,"gpt-5, input"',
    '2026-03-04,0.3,"gpt-5, input"',
    '2026-03-06,0.3,"gpt-5, input"',
  )
  const call = { input: 1n, cost: 2n * 10n ** 11n }
  const { found, differences } = await check(
    [path],
    [
      sums('2026-03-01', call),
      sums('2026-03-01', {
        status: 'unpriced',
        unpricedReason: 'model_not_found',
        rateId: null,
        input: 9n,
      }),
      sums('2026-03-02', call),
      sums('2026-03-02', { status: 'usage_missing', rateId: null }),
      sums('2026-03-03', call),
      sums('2026-03-03', { rejection: 'budget_exceeded', input: 1n, cost: 10n ** 11n }),
      sums('2026-03-04', { input: 1n, cost: 3n * 10n ** 11n }),
      sums('2026-03-06', call),
    ],
  )
  expect(found).toEqual([
    'not_in_ledger 2026-03-02 gpt-5 usage_missing',
    'not_in_ledger 2026-03-03 gpt-5 budget_exceeded',
    'cost_differs 2026-03-06 gpt-5 price_list no_tokens_in_file',
    'unpriced 2026-03-01 gpt-5 unpriced',
  ])
  expect(differences[3]?.invoice_minus_ledger).toEqual({ tokens: {}, cost_usd: '0.1' })
})

test('usage and costs together separate price from count differences', async () => {
  const ledger = [sums('2026-03-01', { input: 10n, cost: 10n ** 11n })]
  const usage = file(USAGE, '2026-03-01,gpt-5,,1,10,0,0')
  const costs = file(COSTS, '2026-03-01,0.3,"gpt-5, input"')
  expect((await check([usage, costs], ledger)).found).toEqual([
    'price_differs 2026-03-01 gpt-5 price_list',
  ])
  expect((await check([usage], ledger)).found).toEqual([])
})

test('costs without models are compared with the sum of all models', async () => {
  const path = file(COSTS, '2026-03-01,0.3,', '2026-03-02,0.3,')
  const { found } = await check(
    [path],
    [
      sums('2026-03-01', { cost: 10n ** 11n }),
      sums('2026-03-01', { cost: 2n * 10n ** 11n, upstreamModel: 'o3' }),
      sums('2026-03-02', { cost: 10n ** 11n }),
    ],
  )
  expect(found).toEqual(['cost_differs 2026-03-02 gpt-5, o3 price_list no_tokens_in_file'])
})

test('rows without a model are separate charges, and mixed files are refused', async () => {
  const both = file(COSTS, '2026-03-01,0.3,', '2026-03-01,0.1,"gpt-5, input"')
  const { found } = await check([both], [sums('2026-03-01', { cost: 10n ** 11n })])
  expect(found).toEqual(['fee 2026-03-01 charges without a model fee'])
  const usage = file(USAGE, '2026-03-01,gpt-5,,1,10,0,0')
  const totals = file(COSTS, '2026-03-01,0.3,')
  await expect(check([usage, totals], [])).rejects.toThrow(
    `${totals} is not grouped by model, but ${usage} is: export it grouped by model`,
  )
})

test('rounding of the file is not a difference; a tolerance allows more', async () => {
  const header = 'usage_date_utc,model,token_type,cost_usd,cost_type'
  const rows = (day: string, ...costs: string[]) =>
    costs.map((cost) => `2026-03-0${day},gpt-5,output,${cost},token`)
  const cents = (n: bigint) => ({ output: 1n, cost: n * 10n ** 8n })
  // The rounding error of three rows in cents is 1.5 cents.
  const path = file(
    header,
    ...rows('1', '0.03', '0.03', '0.03'),
    ...rows('2', '0.03', '0.03', '0.03'),
  )
  const ledger = [sums('2026-03-01', cents(1050n)), sums('2026-03-02', cents(1051n))]
  const exact = await check([path], ledger)
  expect(exact.found).toEqual(['cost_differs 2026-03-02 gpt-5 discount no_tokens_in_file'])
  expect(exact.report.within_rounding).toBe(1)
  for (const tolerance of ['0.0001', '15%']) {
    const { found, code, report } = await check([path], ledger, ['--tolerance', tolerance])
    expect([tolerance, found, code, report.within_rounding]).toEqual([tolerance, [], 0, 2])
  }
  expect((await check([path], ledger, ['--tolerance', '0.00001%'])).code).toBe(1)
})

test('a period of several days is compared with all of them, and is not split', async () => {
  const header = 'starting_at,ending_at,model,uncached_input_tokens,output_tokens'
  const month = '2026-02-01T00:00:00Z,2026-03-01T00:00:00Z,gpt-5'
  const overlapping = '2026-02-20T00:00:00Z,2026-02-21T00:00:00Z,gpt-5'
  const path = file(header, `${month},30,0`, `${overlapping},3,0`)
  const ledger = ['2026-02-01', '2026-02-15', '2026-02-28'].map((day) => sums(day, { input: 11n }))
  const { found, report } = await check([path], ledger)
  expect([found, report.from, report.to]).toEqual([[], '2026-02-01', '2026-02-28'])
  await expect(check([path], ledger, ['--from', '2026-02-15'])).rejects.toThrow('split a period')
})

test('days are those of the file, or the requested ones', async () => {
  const path = file(
    USAGE,
    '2026-03-01,gpt-5,,1,10,0,0',
    '2026-03-03,gpt-5,,1,10,0,0',
    '2026-03-04,,,,,,',
  )
  const ledger = ['2026-02-28', '2026-03-01', '2026-03-03', '2026-03-04', '2026-03-05'].map((day) =>
    sums(day, { input: 10n }),
  )
  const ofFile = await check([path], ledger)
  expect(ofFile.found).toEqual(['not_in_invoice 2026-03-04 gpt-5 other_account not_billed'])
  const asked = await check([path], ledger, ['--from', '2026-02-28', '--to', '2026-03-01'])
  expect(asked.found).toEqual([
    'not_in_invoice 2026-02-28 gpt-5 day_not_in_file other_account not_billed',
  ])
})

test('calls that a vendor reports a day later are one difference over both days', async () => {
  const path = file(
    USAGE,
    '2026-03-01,gpt-5,,1,10,0,5',
    '2026-03-02,gpt-5,,3,40,0,9',
    '2026-03-04,gpt-5,,1,7,0,0',
  )
  const { differences } = await check(
    [path],
    [
      sums('2026-03-01', { input: 30n, output: 8n }),
      sums('2026-03-02', { input: 20n, output: 6n }),
      // Equal numbers two days apart are not a shift.
      sums('2026-03-04', { input: 8n }),
    ],
  )
  expect(differences.map(({ kind, from, to }) => [kind, from, to])).toEqual([
    ['tokens_differ', '2026-03-04', '2026-03-04'],
    ['day_shift', '2026-03-01', '2026-03-02'],
  ])
})

test('invalid options are refused with their name', async () => {
  const path = file(USAGE, '2026-03-01,gpt-5,,1,10,0,0')
  for (const [args, message] of [
    [['--from', '2026-02-30'], '--from must be a day such as 2026-03-31, got 2026-02-30'],
    [['--from', '2026-03-02', '--to', '2026-03-01'], '--to 2026-03-01 is before --from 2026-03-02'],
    [
      ['--tolerance', 'much'],
      '--tolerance must be an amount in USD or a percentage such as 0.5%, got much',
    ],
    [['--tolerance', '101%'], '--tolerance must be'],
    [['--model-map', 'x'], '--model-map must be FILE=GATEWAY'],
    [['--format', 'csv'], '--format must be one of openai-usage, openai-costs, '],
    [
      ['--format', 'openai-costs'],
      'the file is not openai-costs: the columns amount_value are missing',
    ],
    [['--colour', 'x'], 'unknown argument --colour'],
  ] as const) {
    await expect(check([path], [], args)).rejects.toThrow(message)
  }
})
