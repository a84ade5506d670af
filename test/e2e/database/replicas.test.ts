import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { createTestDatabase } from '../../harness/database.ts'
import { adaKey } from '../../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../../harness/process.ts'
import { startUpstream, type Upstream } from '../../harness/upstream.ts'

let upstream: Upstream
let database: Awaited<ReturnType<typeof createTestDatabase>>
let replicas: GatewayProcess[]
let sql: Sql

beforeAll(async () => {
  upstream = await startUpstream()
  database = await createTestDatabase('started')
  const config = {
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
  }
  const options = { databaseUrl: database.url }
  replicas = [await spawnGateway(config, options), await spawnGateway(config, options)]
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
}, 30_000)

afterAll(async () => {
  await sql?.end()
  for (const replica of replicas ?? []) await replica.remove()
  await database?.drop()
  await upstream?.stop()
})

async function call({ url }: GatewayProcess, requestId: string) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}`, 'x-request-id': requestId },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
  })
  const body = (await response.json()) as { error?: { code: string; message: string } }
  return { status: response.status, code: body.error?.code, message: body.error?.message }
}

test('an id that comes to two replicas at the same moment: one call, one row, one 400', async () => {
  const ids = Array.from({ length: 25 }, (_, n) => `same-moment-${n}`)
  for (const id of ids) {
    const answers = await Promise.all(replicas.map((replica) => call(replica, id)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
    const refused = answers.find(({ status }) => status === 400)
    expect(refused?.code).toBe('invalid_request')
    expect(refused?.message).toContain('x-request-id was already used')
    expect(
      upstream.journal.calls.filter(({ headers }) => headers['x-request-id'] === id),
    ).toHaveLength(1)
  }
  const rows = await sql<{ request_id: string; count: number }[]>`
    select request_id, count(*)::int as count from accounting.usage_cost_events
    where request_id like 'same-moment-%' group by 1 order by 1`
  expect(rows.map(({ request_id, count }) => [request_id, count])).toEqual(
    ids.toSorted().map((id) => [id, 1]),
  )
}, 30_000)
