import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { ada, adaKey, eventually } from '../../test/harness/gateway.ts'
import { type GatewayProcess, sendAtOnce, spawnGateway } from '../../test/harness/process.ts'
import { believable, delayed, startUpstream, type Upstream } from '../../test/harness/upstream.ts'
import { usd } from '../_shared/money.ts'

const CALLS = 1000
const LIMIT = 10n ** 12n
/** 0.01 USD per call, so that a hundred calls use up the limit. */
const COST = 10n ** 10n
const FIT = Number(LIMIT / COST)

let upstream: Upstream
let gateway: GatewayProcess
let sql: Sql

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await spawnGateway({
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url, pricing_provider_id: 'test' },
    ],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
    pricing: {
      overrides: [
        {
          pricing_provider_id: 'test',
          model: 'u',
          input_usd_per_million: '10000',
          output_usd_per_million: '10000',
        },
      ],
    },
    users: [{ ...ada, budget: { cadence: 'monthly', amount_usd: '1' } }],
  })
  sql = postgres(gateway.databaseUrl, { max: 1 })
})
afterAll(async () => {
  await sql.end()
  await gateway.remove()
  await upstream.stop()
})

test('1,000 parallel calls exceed a limit by at most the calls in flight when it was used up', async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 }
  upstream.always(delayed(100, believable({ usage })))
  const send = (count: number) =>
    sendAtOnce({
      url: `${gateway.url}/v1/chat/completions`,
      headers: { authorization: `Bearer ${adaKey}` },
      body: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
      count,
    })
  const { statuses } = await send(CALLS)
  const calls = [...upstream.journal.calls]
  expect(statuses).toEqual({
    200: calls.length,
    ...(calls.length < CALLS && { 429: CALLS - calls.length }),
  })

  const rows = await eventually(async () => {
    const found = await sql<
      {
        event_id: string
        request_id: string
        occurred_at: Date
        dispatched_at: Date
        booked: string
      }[]
    >`
      select event_id, request_id, occurred_at, dispatched_at, 'ledger' as booked
      from accounting.usage_cost_events
      union all
      select event_id, request_id, occurred_at, dispatched_at, reason
      from accounting.budget_rejected_charges
      order by event_id`
    return found.length === calls.length ? found : undefined
  })
  // The ledger never exceeds a hard limit.
  expect(rows.slice(0, FIT).every(({ booked }) => booked === 'ledger')).toBe(true)
  expect(rows.slice(FIT).every(({ booked }) => booked === 'budget_exceeded')).toBe(true)

  // After the limit was used up, no call was admitted.
  const usedUp = rows[FIT - 1]?.occurred_at.getTime() ?? Number.NaN
  for (const { dispatched_at } of rows) {
    expect(dispatched_at.getTime()).toBeLessThanOrEqual(usedUp)
  }

  // On a busy machine a call reaches the upstream long after it was sent.
  const unsettled = new Map(
    rows.slice(FIT).map(({ request_id, dispatched_at }) => [request_id, dispatched_at.getTime()]),
  )
  const inFlight = calls.filter(({ headers }) => {
    const sentAt = unsettled.get(headers['x-request-id'] ?? '')
    return sentAt !== undefined && sentAt <= usedUp
  })
  const unanswered = inFlight.filter(({ endedAt }) => (endedAt?.getTime() ?? 0) >= usedUp)
  const overshoot = BigInt(rows.length) * COST - LIMIT
  expect(overshoot).toBeLessThanOrEqual(BigInt(inFlight.length) * COST)
  expect((await send(50)).statuses).toEqual({ 429: 50 })
  expect(upstream.journal.calls).toHaveLength(calls.length)
  console.log(
    `${CALLS} parallel calls, a hard limit of 1 USD, 0.01 USD a call: ${calls.length} served, ` +
      `${inFlight.length} in flight when the limit was used up (${unanswered.length} of them not yet ` +
      `answered by the upstream), overshoot ${usd(overshoot)} USD, all of it kept as rejected charges`,
  )
}, 60_000)
