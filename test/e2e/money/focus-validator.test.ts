/** The FOCUS export of a whole gateway, before the validators of the FinOps Foundation. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { type AdminReply, adminClient } from '../../harness/admin.ts'
import { ada, adaKey, startTestGateway, type TestGateway, testKey } from '../../harness/gateway.ts'
import { believable, startUpstream, type Upstream } from '../../harness/upstream.ts'
import { focusValidator, type ValidatorVersion } from './focus-validator.fixture.ts'

/** The rules that the export does not keep, with what is wrong about them. */
const FAULTS: Record<ValidatorVersion, Record<string, string>> = {
  '1.0.0': {
    InvoiceIssuer_Required: 'the column is named InvoiceIssuerName',
    Provider_Required: 'the column is named ProviderName',
    Publisher_Required: 'the column is named PublisherName',
    ResourceID_Required: 'the column is named ResourceId',
    SkuPriceId_Nullable: 'asks for ChargeType, which is ChargeCategory since 1.0',
  },
  '2.2.1': {
    'CapacityReservationStatus-C-004-C': 'is for charges with a CapacityReservationId only',
    'CommitmentDiscountStatus-C-004-C':
      'is for charges with a CommitmentDiscountId only (FOCUS errata 1.2, D #2)',
    'InvoiceId-C-005-C': 'is for charges with an invoice only',
  },
}

const validators = await Promise.all(
  (Object.keys(FAULTS) as ValidatorVersion[]).map(
    async (version) => [version, await focusValidator(version)] as const,
  ),
)

/** What a spreadsheet, a CSV reader or a validator could trip over. */
const ODD = ['=Ada "A", x', 'Zeile\nzwei', '+49 30', '@home, "sweet" home']
const botKey = testKey('bot')

let upstream: Upstream
let gateway: TestGateway
let root: string
let reply: AdminReply
let file: string
let rows: Record<string, string>[]

beforeAll(async () => {
  upstream = await startUpstream()
  const provider = (id: string) => ({
    id,
    type: 'generic_compat',
    base_url: upstream.url,
    auth: { mode: 'none' },
    pricing_provider_id: 'test',
  })
  const model = (id: string, provider: string, upstream_model: string) => ({
    id,
    routes: [{ provider, upstream_model }],
  })
  const price = (name: string, input: string, output: string) => ({
    pricing_provider_id: 'test',
    model: name,
    input_usd_per_million: input,
    cache_read_usd_per_million: input,
    output_usd_per_million: output,
  })
  const person = (name: string, n: number) => ({
    name,
    email: `u${n}@example.com`,
    api_keys: [{ name: 'test', value: `literal.${testKey(`u${n}`)}`, all_models: true }],
  })
  gateway = await startTestGateway({
    providers: ['openai', 'bed-rock'].map(provider),
    models: [
      model('m', 'openai', 'vendor/one'),
      model('whole', 'openai', 'whole'),
      model('odd', 'bed-rock', '=SUM(1,2), "x"'),
      model('free', 'bed-rock', 'vendor/unknown'),
    ],
    pricing: {
      overrides: [
        price('vendor/one', '0.000001', '15.000001'),
        price('whole', '1000000', '1000000'),
        price('=SUM(1,2), "x"', '3', '0.1'),
      ],
    },
    teams: [{ key: 'core', name: 'Core, =1' }],
    users: [ada, ...ODD.map(person)],
    service_accounts: [
      {
        key: 'bot',
        name: '-Bot, "the" first',
        team: 'core',
        budget: { cadence: 'weekly', amount_usd: '5000000' },
        api_keys: [
          { name: 'test', value: `literal.${botKey}`, models: ['m', 'whole', 'odd', 'free'] },
        ],
      },
    ],
  })
  for (const key of [adaKey, botKey, ...ODD.map((_, n) => testKey(`u${n}`))]) {
    for (const model of ['m', 'whole', 'odd', 'free']) await chat(key, model)
  }
  upstream.script(
    believable({ usage: null }),
    // More of the prompt was cached than it has tokens.
    believable({
      usage: {
        ...{ prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
        prompt_tokens_details: { cached_tokens: 9 },
      },
    }),
  )
  for (let n = 0; n < 2; n++) await chat(adaKey, 'm')

  const admin = await adminClient(gateway)
  reply = await admin.request(
    'GET',
    `/api/v1/admin/spend/focus.csv?day=${new Date().toISOString().slice(0, 10)}`,
  )
  rows = parse(reply.text, { columns: true })
  root = mkdtempSync(join(tmpdir(), 'focus-'))
  file = join(root, 'focus.csv')
  writeFileSync(file, reply.text)
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  rmSync(root, { recursive: true, force: true })
})

async function chat(key: string, model: string): Promise<void> {
  const { status } = await gateway.post(
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content: 'hi' }] },
    {
      authorization: `Bearer ${key}`,
      'x-gateway-service': 'shop',
      'x-gateway-tags': 'cost-center=cc-7',
    },
  )
  expect(status).toBe(200)
}

const pico = (usd: string) => {
  const [whole = '', fraction = ''] = usd.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}

for (const [version, validate] of validators) {
  test.skipIf(validate === undefined)(
    `focus-validator ${version} finds nothing but faults of its own`,
    async () => {
      expect(await validate?.(file)).toEqual(Object.keys(FAULTS[version]))
    },
    60_000,
  )
}

test('a row has its charge once in each cost, and all of them are the ledger', async () => {
  const [ledger] = await gateway.sql`
    select sum(cost_pico_usd)::text as cost,
      array_agg(distinct pricing_status order by pricing_status) as statuses
    from accounting.usage_cost_events`
  expect(ledger?.statuses).toEqual(['legacy_estimated', 'priced', 'unpriced', 'usage_missing'])
  expect(rows.reduce((sum, row) => sum + pico(row.BilledCost as string), 0n)).toBe(
    BigInt(ledger?.cost),
  )
  for (const row of rows) {
    for (const cost of ['List', 'Contracted', 'Effective', 'PricingCurrencyEffective']) {
      expect(row[`${cost}Cost`]).toBe(row.BilledCost as string)
    }
    for (const column of ['BilledCost', 'ConsumedQuantity', 'PricingQuantity']) {
      expect(row[column]).toMatch(/^\d+\.\d+$/)
    }
    expect(row.PricingQuantity).toBe(row.ConsumedQuantity as string)
  }
  expect(reply.headers.get('x-focus-excluded-unpriced-requests')).toBe(String(ODD.length + 2))
  expect(reply.headers.get('x-focus-excluded-usage-missing-requests')).toBe('1')
})

test('the version is told by the reply, the name of the file and each row', () => {
  expect(reply.headers.get('x-focus-version')).toBe('1.3')
  const today = new Date().toISOString().slice(0, 10)
  expect(reply.headers.get('content-disposition')).toBe(
    `attachment; filename="focus-1.3_${today}_${today}.csv"`,
  )
  expect(new Set(rows.map((row) => row.x_focus_version))).toEqual(new Set(['1.3']))
})

test('columns of FOCUS are sorted, before those of the gateway', () => {
  const names = Object.keys(rows[0] ?? {})
  const ofFocus = names.filter((name) => !name.startsWith('x_'))
  expect(names.slice(0, ofFocus.length)).toEqual(ofFocus.toSorted())
  // Those of 1.3 that the rules of 1.2 do not know.
  for (const row of rows) {
    expect(row.ServiceProviderName).toBe(row.ProviderName as string)
    expect(row.HostProviderName).toBe(row.ServiceProviderName as string)
  }
})

test('names come through as they are, but for an apostrophe before formulas', () => {
  const harmless = (name: string) => (/^[=+\-@]/.test(name) ? `'${name}` : name)
  const names = new Set(rows.map((row) => row.SubAccountName))
  expect(names).toEqual(new Set(['Ada', '-Bot, "the" first', ...ODD].map(harmless)))
  expect(new Set(rows.map((row) => row.ResourceId))).toEqual(
    new Set(['vendor/one', 'whole', `'=SUM(1,2), "x"`]),
  )
  expect(new Set(rows.map((row) => row.SubAccountType))).toEqual(
    new Set(['User', 'Service Account']),
  )
})
