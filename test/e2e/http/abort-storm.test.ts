import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { adaKey, eventually } from '../../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../../harness/process.ts'
import { memoryMb } from '../../harness/process-tree.ts'
import { paced, startUpstream, type Upstream } from '../../harness/upstream.ts'

const LEAVERS = 1800
const AT_ONCE = 250
const ROUNDS = 6
const DRAIN_SECS = 1

let upstream: Upstream
let gateway: GatewayProcess

beforeAll(async () => {
  upstream = await startUpstream()
  // A whole stream takes half a minute.
  upstream.always(paced(600, 50))
  gateway = await spawnGateway({
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
    accounting: { abort_drain_secs: DRAIN_SECS },
  })
}, 30_000)

afterAll(async () => {
  await gateway?.remove()
  await upstream?.stop()
})

/** Begins a stream, reads a piece of it and leaves. */
async function leave(): Promise<void> {
  const away = new AbortController()
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}` },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    signal: away.signal,
  })
  expect(response.status).toBe(200)
  await response.body?.getReader().read()
  away.abort()
}

async function leaveMany(count: number): Promise<void> {
  let left = count
  const leavers = Array.from({ length: AT_ONCE }, async () => {
    while (left-- > 0) await leave()
  })
  await Promise.all(leavers)
}

/** Upstream calls that have not ended. */
const running = () => upstream.journal.calls.filter(({ outcome }) => outcome === 'open').length

test(`${LEAVERS} streams whose callers leave are read for the drain time, booked and released`, async () => {
  const levels: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await leaveMany(LEAVERS / ROUNDS)
    await eventually(async () => (running() === 0 ? true : undefined), 10_000)
    levels.push(memoryMb(gateway.pid))
  }

  const sql = postgres(gateway.databaseUrl, { max: 1, onnotice: () => {} })
  try {
    const rows = await eventually(async () => {
      const found = await sql<{ status: string; count: number }[]>`
        select a.status, count(*)::int as count
        from request_log.request_logs r
        join request_log.request_log_attempts a
          on a.request_log_id = r.id and a.occurred_at = r.occurred_at
        group by 1`
      return found.reduce((sum, { count }) => sum + count, 0) === LEAVERS ? found : undefined
    }, 10_000)
    expect([...rows]).toEqual([{ status: 'client_abort', count: LEAVERS }])
    const [ledger] = await sql<{ count: number }[]>`
      select count(*)::int as count from accounting.usage_cost_events`
    expect(ledger?.count).toBe(LEAVERS)
  } finally {
    await sql.end()
  }
  console.log(`memory after each ${LEAVERS / ROUNDS}: ${levels.map(Math.round).join(', ')} MB`)
  // The engine decides when it collects garbage, so the lowest level shows what is in use.
  const early = Math.min(...levels.slice(0, ROUNDS / 2))
  const late = Math.min(...levels.slice(ROUNDS / 2))
  expect(late).toBeLessThan(early * 1.5)
}, 120_000)
