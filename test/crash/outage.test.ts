import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { adaKey, eventually } from '../harness/gateway.ts'
import { type OwnPostgres, startOwnPostgres } from '../harness/postgres.ts'
import { type GatewayProcess, spawnGateway } from '../harness/process.ts'
import { believable, startUpstream, type Upstream } from '../harness/upstream.ts'
import { audit } from './audit.ts'

const OUTAGE_MS = 20_000
const CALLERS = 8

let upstream: Upstream
let database: OwnPostgres
let gateway: GatewayProcess

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.always(believable())
  database = await startOwnPostgres()
  gateway = await spawnGateway(
    {
      providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
      models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
    },
    { databaseUrl: database.url },
  )
}, 30_000)

afterAll(async () => {
  await gateway?.remove()
  await database?.remove()
  await upstream?.stop()
})

interface Answer {
  readonly id: string
  readonly status: number
  readonly ms: number
}

async function call(headers: Record<string, string> = {}): Promise<Answer> {
  const started = performance.now()
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}`, ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.text()
  const id = response.headers.get('x-request-id') ?? ''
  return { id, status: response.status, ms: performance.now() - started }
}

/** Calls all the while that `happening` takes, and what came of them. */
async function callDuring(happening: () => Promise<void>): Promise<Answer[]> {
  const answers: Answer[] = []
  let over = false
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!over) {
      answers.push(await call())
      await Bun.sleep(20)
    }
  })
  await happening()
  over = true
  await Promise.all(callers)
  return answers
}

/** After the outage every call is in the ledger and in the request log, once. */
async function expectBooked(answers: readonly Answer[]) {
  const received = answers.filter(({ status }) => status === 200).map(({ id }) => id)
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  try {
    const books = await eventually(async () => {
      const found = await audit(sql, { called: received, received })
      return found.missing.length === 0 ? found : undefined
    }, 15_000)
    expect(books).toEqual({ missing: [], doubled: [], lost: [] })
    const logged = await eventually(async () => {
      const rows = await sql<{ request_id: string; count: number }[]>`
        select request_id, count(*)::int as count from request_log.request_logs
        where request_id = any(${received}) and status_code = 200 group by 1`
      return rows.length === received.length ? rows : undefined
    }, 15_000)
    expect(logged.filter(({ count }) => count !== 1)).toEqual([])
  } finally {
    await sql.end()
  }
}

test.each([
  ['stopped', () => database.stop(), () => database.start()],
  ['frozen', async () => database.freeze(), async () => database.thaw()],
] as const)(
  'Postgres %s for 20 s under load: calls are answered, and nothing is missing afterwards',
  async (_, stop, start) => {
    const answers = await callDuring(async () => {
      await Bun.sleep(500)
      await stop()
      await Bun.sleep(OUTAGE_MS)
      await start()
      await Bun.sleep(1000)
    })
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses]).toEqual([200])
    // The commits in flight at the start of a freeze wait for their timeout; no later call does.
    const slow = answers.filter(({ ms }) => ms > 1500)
    expect(slow.length).toBeLessThanOrEqual(CALLERS * 2)
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(6000)
    console.log(`${answers.length} calls, ${slow.length} of them slower than 1.5 s`)
    await expectBooked(answers)
  },
  90_000,
)

test('an id that the caller chose is used up during an outage too', async () => {
  await database.stop()
  try {
    const headers = { 'x-request-id': 'chosen-in-an-outage' }
    const answers = await Promise.all([call(headers), call(headers)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
  } finally {
    await database.start()
  }
  await expectBooked([{ id: 'chosen-in-an-outage', status: 200, ms: 0 }])
}, 60_000)
