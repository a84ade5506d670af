import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reconcileCommand } from './command.ts'
import { createStore } from './store.ts'
import { type LedgerCall, random, useLedger } from './testing.ts'

const CALLS = 10_000
const DAYS = 31
/**
 * Prices by name in the vendor's bill, in pico-USD per token; some are finer than the bill shows.
 */
const models = [
  { bill: 'NovaPro', upstream: 'us.amazon.nova-pro-v1:0', rates: [800_000n, 3_200_000n, 200_000n] },
  { bill: 'NovaLite', upstream: 'amazon.nova-lite-v1:0', rates: [60_000n, 240_000n, 15_037n] },
  { bill: 'Nova2.0Lite', upstream: 'amazon.nova-2-lite-v1:0', rates: [33_333n, 2_750_001n, 7n] },
  {
    bill: 'Claude4.6Sonnet',
    upstream: 'global.anthropic.claude-sonnet-4-6',
    rates: [3_000_000n, 15_000_000n, 300_000n],
  },
  {
    bill: 'Claude4.5Haiku',
    upstream: 'anthropic.claude-haiku-4-5-20251001-v1:0',
    rates: [1_000_000n, 5_000_000n, 100_000n],
  },
  {
    bill: 'openai.gpt-oss-120b',
    upstream: 'openai.gpt-oss-120b-1:0',
    rates: [150_000n, 600_000n, 1n],
  },
  { bill: 'Llama4-Scout', upstream: 'meta.llama4-scout', rates: [170_000n, 660_000n, 11n] },
  {
    bill: 'MistralSmall',
    upstream: 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x1y2',
    rates: [99_991n, 300_000n, 13n],
  },
] as const
const meters = ['input-tokens', 'output-tokens', 'cache-read-input-token-count'] as const

interface Call {
  readonly day: number
  readonly hour: number
  readonly model: (typeof models)[number]
  readonly tokens: readonly [input: bigint, output: bigint, cacheRead: bigint]
}

const dayText = (day: number) => `2026-03-${String(day + 1).padStart(2, '0')}`
const costOf = ({ model, tokens }: Call) =>
  tokens.reduce((sum, n, at) => sum + n * (model.rates[at] as bigint), 0n)

const folder = mkdtempSync(join(tmpdir(), 'invoice-planted-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const [header = ''] = readFileSync(join(import.meta.dir, '__fixtures__/aws-cur.csv'), 'utf8').split(
  '\n',
)
const columns = header.split(',')

function row(cells: Readonly<Record<string, string>>): string {
  return columns.map((column) => cells[column] ?? '').join(',')
}

/** Lines of the bill: one per hour, in thousands of tokens, with cents truncated at ten places. */
function billLines(
  calls: readonly Call[],
  factor = [1n, 1n] as readonly [bigint, bigint],
): string[] {
  const hours = Map.groupBy(calls, ({ day, hour, model }) => `${day} ${hour} ${model.bill}`)
  return [...hours.values()].flatMap((group) => {
    const { day, hour, model } = group[0] as Call
    return meters.flatMap((meter, at) => {
      const tokens = group.reduce((sum, call) => sum + (call.tokens[at] as bigint), 0n)
      if (tokens === 0n) return []
      const pico = (tokens * (model.rates[at] as bigint) * factor[0]) / factor[1]
      const cost = ((pico + 50n) / 100n).toString().padStart(11, '0')
      const amount = tokens.toString().padStart(4, '0')
      const start = `${dayText(day)}T${String(hour).padStart(2, '0')}:00:00.000Z`
      return [
        row({
          line_item_product_code: 'AmazonBedrock',
          line_item_currency_code: 'USD',
          line_item_line_item_type: 'Usage',
          line_item_usage_type: `USE1-${model.bill}-${meter}`,
          line_item_usage_amount: `${amount.slice(0, -3)}.${amount.slice(-3)}`,
          line_item_unblended_cost: `${cost.slice(0, -10)}.${cost.slice(-10)}`,
          line_item_usage_start_date: start,
          line_item_usage_end_date: start.replace(':00:00.000', ':59:59.000'),
          pricing_unit: '1K tokens',
        }),
      ]
    })
  })
}

function ledgerCall(call: Call): LedgerCall {
  const [input, output, cacheRead] = call.tokens.map(Number)
  return {
    utc_day: dayText(call.day),
    upstream_model: call.model.upstream,
    provider_key: 'bedrock',
    pricing_model: call.model.bill === 'MistralSmall' ? 'mistral-small' : call.model.upstream,
    rate_id: `rate-of-${call.model.bill}`,
    uncached_input_tokens: input as number,
    completion_tokens: output as number,
    cache_read_tokens: cacheRead as number,
    cost_pico_usd: costOf(call).toString(),
  }
}

/** Both sides of the same calls, and the planted differences: `kind day model`. */
function plant(seed: number) {
  const next = random(seed)
  const below = (n: number) => Math.floor(next() * n)
  const cells = new Map<string, Call[]>()
  for (let n = 0; n < CALLS; n++) {
    const model = models[n % models.length] as Call['model']
    // Each cell has calls, so that a difference can be planted.
    const day = n < DAYS * models.length * 4 ? Math.floor(n / models.length) % DAYS : below(DAYS)
    const tokens = [
      BigInt(1 + below(9_000)),
      BigInt(1 + below(900)),
      BigInt(below(3) * below(5_000)),
    ]
    const call = { day, hour: below(24), model, tokens: tokens as unknown as Call['tokens'] }
    cells.set(`${day} ${model.bill}`, [...(cells.get(`${day} ${model.bill}`) ?? []), call])
  }
  const free = new Set(cells.keys())
  /** A cell with unchanged neighbours, so that two planted differences do not look like a third. */
  const pick = (days = 1) => {
    for (;;) {
      const day = below(DAYS - days + 1)
      const { bill } = models[below(models.length)] as Call['model']
      const taken = Array.from({ length: days + 2 }, (_, at) => `${day - 1 + at} ${bill}`)
      if (!taken.every((key) => free.has(key) || !cells.has(key))) continue
      for (const key of taken) free.delete(key)
      return { day, key: `${day} ${bill}`, calls: cells.get(`${day} ${bill}`) as Call[] }
    }
  }

  const ledger = new Map([...cells].map(([key, calls]) => [key, calls.map(ledgerCall)]))
  const bill = new Map([...cells].map(([key, calls]) => [key, billLines(calls)]))
  const planted: string[] = []
  const note = (kind: string, { calls }: { readonly calls: readonly Call[] }, reason: string) => {
    const [{ day, model }] = calls as [Call]
    planted.push(`${kind} ${dayText(day)} ${model.upstream} ${reason}`)
  }
  const changed = (key: string, from: number, change: Partial<Record<keyof LedgerCall, unknown>>) =>
    ledger.set(
      key,
      (ledger.get(key) ?? []).map((call, at) => {
        if (at < from) return call
        const merged = { ...call, ...change }
        return Object.fromEntries(
          Object.entries(merged).filter(([, value]) => value !== undefined),
        ) as unknown as LedgerCall
      }),
    )

  for (let n = 0; n < 3; n++) {
    const past = pick()
    ledger.delete(past.key)
    note('not_in_ledger', past, 'past_gateway')

    for (const why of ['budget_exceeded', 'duplicate_race']) {
      const rejected = pick()
      changed(rejected.key, rejected.calls.length - 2, { reason: why })
      note('not_in_ledger', rejected, why)
    }

    const missing = pick()
    changed(missing.key, missing.calls.length - 1, {
      pricing_status: 'usage_missing',
      ...Object.fromEntries(
        [
          'uncached_input_tokens',
          'completion_tokens',
          'cache_read_tokens',
          'cost_pico_usd',
          'rate_id',
        ].map((name) => [name, undefined]),
      ),
    })
    // One call with cached input, so that all differing buckets lack it.
    note('not_in_ledger', missing, 'usage_missing')

    const absent = pick()
    bill.set(absent.key, [])
    note('not_in_invoice', absent, 'other_account')

    const counted = pick()
    const [first, ...others] = counted.calls as [Call, ...Call[]]
    const [input, output, cacheRead] = first.tokens
    const more = { ...first, tokens: [input + 1n, output, cacheRead] as const }
    bill.set(counted.key, billLines([more, ...others]))
    note('tokens_differ', counted, 'past_gateway')

    const less = pick()
    bill.set(less.key, billLines(less.calls.slice(1)))
    note('tokens_differ', less, 'not_billed')

    const cheap = pick()
    bill.set(cheap.key, billLines(cheap.calls, [1n, 2n]))
    note('price_differs', cheap, 'half_price')

    const dear = pick()
    bill.set(dear.key, billLines(dear.calls, [107n, 100n]))
    note('price_differs', dear, 'price_list')

    const unpriced = pick()
    changed(unpriced.key, unpriced.calls.length - 1 - n, {
      pricing_status: 'unpriced',
      unpriced_reason: 'model_not_found',
      cost_pico_usd: undefined,
      rate_id: undefined,
    })
    note('unpriced', unpriced, 'unpriced')

    const shift = pick(2)
    const [late, ...early] = shift.calls as [Call, ...Call[]]
    const nextKey = `${shift.day + 1} ${late.model.bill}`
    bill.set(shift.key, billLines(early))
    bill.set(
      nextKey,
      billLines([...(cells.get(nextKey) ?? []), { ...late, day: shift.day + 1, hour: 0 }]),
    )
    note('day_shift', shift, 'day_boundary')

    const feeDay = dayText(below(DAYS))
    const label = `USE1-Guardrail-Units-${n}`
    bill.set(`fee ${n}`, [
      row({
        line_item_product_code: 'AmazonBedrock',
        line_item_line_item_type: 'Usage',
        line_item_usage_type: label,
        line_item_usage_amount: '7',
        line_item_unblended_cost: '0.0010500000',
        line_item_usage_start_date: `${feeDay}T05:00:00.000Z`,
        line_item_usage_end_date: `${feeDay}T06:00:00.000Z`,
      }),
    ])
    planted.push(`fee ${feeDay} ${label} fee`)
  }
  return { ledger: [...ledger.values()].flat(), bill: [...bill.values()].flat(), planted }
}

const books = useLedger()

test.each([1, 20_260_301, 987_654_321])(
  'all planted differences of ten thousand calls are found, and no others: seed %d',
  async (seed) => {
    const { ledger, bill, planted } = plant(seed)
    expect(ledger.length).toBeGreaterThan(CALLS * 0.95)
    expect(bill.length).toBeGreaterThan(CALLS)
    await books.fill(ledger)
    const path = join(folder, `bill-${seed}.csv`)
    writeFileSync(path, [header, ...bill].join('\n'))
    const command = reconcileCommand({
      store: createStore(books.database),
      providers: () => ['bedrock'],
      prices: () => undefined,
      clock: { now: () => new Date('2026-05-01T00:00:00Z') },
    })
    let text = ''
    const args = ['--provider', 'bedrock', '--file', path, '--json']
    const code = await command.run(args, (line) => {
      text += line
    })
    const { differences, compared, within_rounding } = JSON.parse(text) as {
      differences: { kind: string; from: string; subject: string; reasons: { code: string }[] }[]
      compared: number
      within_rounding: number
    }
    const found = differences.map(
      ({ kind, from, subject, reasons }) => `${kind} ${from} ${subject} ${reasons[0]?.code}`,
    )
    expect(found.toSorted()).toEqual(planted.toSorted())
    expect(code).toBe(1)
    expect(compared).toBe(DAYS * models.length)
    // The bill shows ten decimals, and prices are finer.
    expect(within_rounding).toBeGreaterThan(50)
  },
  60_000,
)
