import { afterAll, beforeAll, expect, test } from 'bun:test'
import { serviceAccount, user } from '../../request-log/testing.ts'
import { type Bench, openBench } from '../testing.ts'

const USAGE = '/api/v1/me/usage'

interface Usage {
  readonly owner_kind: string
  readonly owner_id: string
  readonly totals: { readonly request_count: number; readonly total_tokens: number }
  readonly series: readonly { bucket_start: string; request_count: number; total_tokens: number }[]
  readonly models: readonly { model_key: string; request_count: number; total_tokens: number }[]
}

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
  await bench.spend({ owner: 'ada', requests: 3, tokens: 30, model: 'a' })
  await bench.spend({
    owner: 'ada',
    requests: 4,
    tokens: 5,
    model: 'b',
    at: '2026-11-18T12:00:00Z',
  })
  await bench.spend({
    owner: 'ada',
    requests: 9,
    tokens: 9,
    model: 'a',
    at: '2026-11-01T12:00:00Z',
  })
  await bench.spend({ owner: 'bob', requests: 100, tokens: 100 })
  await bench.spend({ owner: 'account-1', kind: 'service_account', requests: 2, tokens: 2 })
})
afterAll(() => bench.stop())

test('covers the caller, by half day and model', async () => {
  const usage = await bench.get<Usage>(USAGE, {}, { caller: { kind: 'session', userId: 'ada' } })
  expect(usage).toMatchObject({ owner_kind: 'user', owner_id: 'ada' })
  expect(usage.totals).toMatchObject({ request_count: 7, total_tokens: 35 })
  expect(usage.series).toHaveLength(14)
  expect(usage.series.filter(({ request_count }) => request_count > 0)).toMatchObject([
    { bucket_start: '2026-11-18T12:00:00.000Z', request_count: 4, total_tokens: 5 },
    { bucket_start: '2026-11-21T00:00:00.000Z', request_count: 3, total_tokens: 30 },
  ])
  expect(usage.models.map((m) => [m.model_key, m.request_count])).toEqual([
    ['b', 4],
    ['a', 3],
  ])
  const month = await bench.get<Usage>(
    USAGE,
    { range: '31d' },
    { caller: { kind: 'session', userId: 'ada' } },
  )
  expect(month.totals.request_count).toBe(16)
  expect(month.models[0]).toMatchObject({ model_key: 'a', request_count: 12 })
})

test('with an API key covers its owner', async () => {
  const by = async (principal: unknown) =>
    (await bench.get<Usage>(USAGE, {}, { caller: { kind: 'api_key', principal } })).totals
  expect(await by(user({ id: 'bob' }))).toMatchObject({ request_count: 100 })
  expect(await by(serviceAccount())).toMatchObject({ request_count: 2 })
  expect(await by(user({ id: 'unknown' }))).toMatchObject({ request_count: 0, total_tokens: 0 })
})
