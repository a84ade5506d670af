import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { adaKey, eventually } from '../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../harness/process.ts'
import { believable, startUpstream, type Upstream } from '../harness/upstream.ts'
import { audit } from './audit.ts'

const KILLS = 10
const CALLERS = 16

let upstream: Upstream
let gateway: GatewayProcess
let sql: postgres.Sql

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.always(believable({ gapMs: 2 }))
  gateway = await spawnGateway({
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url, pricing_provider_id: 'test' },
    ],
    models: [
      {
        id: 'm',
        routes: [
          {
            provider: 'up',
            upstream_model: 'u',
            compatibility: { generic_compat: { supports_stream_usage: true } },
          },
        ],
      },
    ],
    pricing: {
      overrides: [
        {
          pricing_provider_id: 'test',
          model: 'u',
          input_usd_per_million: '1',
          cache_read_usd_per_million: '1',
          output_usd_per_million: '2',
        },
      ],
    },
  })
  sql = postgres(gateway.databaseUrl, { max: 1, onnotice: () => {} })
})

afterAll(async () => {
  await sql?.end()
  await gateway?.remove()
  await upstream?.stop()
})

/** One call; its id, when the caller received its end. */
async function call(stream: boolean): Promise<string | undefined> {
  try {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adaKey}` },
      body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'hi' }] }),
    })
    const text = await response.text()
    const complete = stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}')
    return response.status === 200 && complete
      ? (response.headers.get('x-request-id') ?? undefined)
      : undefined
  } catch {
    return undefined
  }
}

test('after each kill -9 under load, every call that a caller received whole is booked once', async () => {
  const received: string[] = []
  let stopped = false
  const callers = Array.from({ length: CALLERS }, async (_, n) => {
    while (!stopped) {
      const id = await call(n % 2 === 0)
      if (id === undefined) await Bun.sleep(50)
      else received.push(id)
    }
  })
  for (let kill = 0; kill < KILLS; kill++) {
    await Bun.sleep(30 + Math.random() * 200)
    await gateway.end('SIGKILL')
    await gateway.restart()
  }
  await Bun.sleep(100)
  stopped = true
  await Promise.all(callers)
  const called = upstream.journal.calls.map(({ headers }) => headers['x-request-id'] ?? '')

  // What was spooled when the database could not be asked any more is replayed after the start.
  const books = await eventually(async () => {
    const found = await audit(sql, { called, received })
    return found.missing.length === 0 ? found : undefined
  })
  expect(books.doubled).toEqual([])
  expect(received.length).toBeGreaterThan(KILLS)
  expect(books.lost.length).toBeLessThanOrEqual(KILLS * CALLERS)
  console.log(
    `${called.length} calls, ${received.length} received, ${books.lost.length} lost in ${KILLS} kills`,
  )

  // The checker sees a double write and a missing one.
  const [first] = received
  await sql`
    insert into accounting.usage_cost_events
    select (jsonb_populate_record(e, '{"ownership_scope_key":"user:other"}')).*
    from accounting.usage_cost_events e where request_id = ${first ?? ''}`
  const planted = await audit(sql, { called, received: [...received, 'never-written'] })
  expect(planted).toMatchObject({ doubled: [first], missing: ['never-written'] })
}, 120_000)
