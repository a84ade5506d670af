import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AdminClient, adminClient } from '../../test/harness/admin.ts'
import { eventually, startTestGateway, type TestGateway } from '../../test/harness/gateway.ts'
import { MOST_SERIES } from './daily-store.ts'

const MODELS = Array.from({ length: MOST_SERIES + 2 }, (_, n) => `model-${n}`)
let gateway: TestGateway
let root: AdminClient

interface Spent {
  spend_usd: string
  request_count: number
}
interface Daily {
  series: (Spent & {
    model_key: string | null
    owner_name: string | null
    others: boolean
    daily: (Spent & { day: string })[]
  })[]
}

beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'up', type: 'simulator', pricing_provider_id: 'test' }],
    models: [...MODELS, 'free'].map((id) => ({
      id,
      routes: [{ provider: 'up', upstream_model: id }],
    })),
    pricing: {
      overrides: MODELS.map((model, n) => ({
        pricing_provider_id: 'test',
        model,
        input_usd_per_million: `${n + 1}`,
        output_usd_per_million: '3.000001',
      })),
    },
  })
  root = await adminClient(gateway)
  for (const model of [...MODELS, 'free', 'model-0']) {
    const response = await gateway.post('/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(response.status).toBe(200)
  }
  await eventually(async () => {
    const [row] = await gateway.sql`select count(*)::int as n from accounting.usage_cost_events`
    return row?.n === MODELS.length + 2 || undefined
  })
})
afterAll(() => gateway.stop())

test.each(['model', 'owner'])(
  'the series by %s and their days add up to the report',
  async (by) => {
    const { series } = await root.get<Daily>(`/api/v1/admin/spend/daily?by=${by}&days=30`)
    const { totals, daily } = await root.get<{ totals: Spent; daily: (Spent & { day: string })[] }>(
      '/api/v1/admin/spend/report?days=30',
    )
    for (const list of [series, series.flatMap((one) => one.daily)]) {
      expect(sumOf(list)).toEqual(sumOf([totals]))
    }
    for (const [n, one] of daily.entries()) {
      expect(series.map((each) => each.daily[n]?.day)).toEqual(series.map(() => one.day))
      expect(sumOf(series.map((each) => each.daily[n] as Spent))).toEqual(sumOf([one]))
    }
  },
)

test('the largest series are named, and one series sums the others', async () => {
  const { series } = await root.get<Daily>('/api/v1/admin/spend/daily')
  expect(series).toHaveLength(MOST_SERIES + 1)
  const named = series.slice(0, -1)
  const spend = named.map(({ spend_usd }) => Number(spend_usd))
  expect(spend).toEqual(spend.toSorted((a, b) => b - a))
  expect(named.every(({ model_key, others }) => model_key !== null && !others)).toBe(true)
  expect(series.at(-1)).toMatchObject({ model_key: null, others: true })
  const { series: owners } = await root.get<Daily>('/api/v1/admin/spend/daily?by=owner')
  expect(owners).toMatchObject([{ owner_name: 'Ada', others: false }])
  const accounts = '/api/v1/admin/spend/daily?by=owner&owner_kind=service_account'
  expect(await root.get<Daily>(accounts)).toMatchObject({ series: [] })
})

test('an entry has the source of its price, or the reason for a missing one', async () => {
  const entry = async (model: string) => {
    const [row] = await gateway.sql`
      select request_id, rate_id, cost_pico_usd::text as cost
      from accounting.usage_cost_events where model_key = ${model}`
    const path = `/api/v1/admin/spend/ledger-entries?request_id=${row?.request_id}`
    return { row, found: await root.get<{ items: { cost_usd: string }[] }>(path) }
  }
  const priced = await entry('model-3')
  expect(priced.found.items).toMatchObject([
    {
      rejection: null,
      owner_name: 'Ada',
      pricing_status: 'priced',
      unpriced_reason: null,
      pricing_provider_id: 'test',
      pricing_model: 'model-3',
      rate_id: priced.row?.rate_id,
    },
  ])
  expect(picoOf(priced.found.items[0]?.cost_usd as string)).toBe(BigInt(priced.row?.cost))
  expect((await entry('free')).found.items).toMatchObject([
    { pricing_status: 'unpriced', unpriced_reason: 'model_not_found', cost_usd: null },
  ])
  const nothing = '/api/v1/admin/spend/ledger-entries?request_id=nothing'
  expect(await root.get<object>(nothing)).toEqual({ items: [] })
})

test.each([
  ['daily?by=team', 'by'],
  ['daily?days=8', 'days'],
  ['ledger-entries', 'request_id'],
])('%s is refused with the name of the parameter', async (path, name) => {
  const [status, code, message] = await root.refused('GET', `/api/v1/admin/spend/${path}`)
  expect([status, code]).toEqual([400, 'invalid_request'])
  expect(message).toContain(name)
})

function sumOf(list: readonly Spent[]) {
  return {
    pico: list.reduce((sum, { spend_usd }) => sum + picoOf(spend_usd), 0n),
    requests: list.reduce((sum, { request_count }) => sum + request_count, 0),
  }
}

function picoOf(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}
