import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { adaKey, eventually } from '../harness/gateway.ts'
import { startOwnPostgres } from '../harness/postgres.ts'
import { spawnGateway } from '../harness/process.ts'
import { believable, startUpstream } from '../harness/upstream.ts'
import { audit } from './audit.ts'

const OUTAGE_MS = 20_000
const CALLERS = 8
/** Between two calls of a caller: 80 calls a second in all, which leaves the processor to other tests. */
const PAUSE_MS = 100

// Each outage has its own gateway and database, so that all of them can happen at the same time.

const configOf = (upstreamUrl: string) => ({
  providers: [{ id: 'up', type: 'generic_compat', base_url: upstreamUrl }],
  models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
})

async function startWorld() {
  const upstream = await startUpstream()
  upstream.always(believable())
  const database = await startOwnPostgres()
  const gateway = await spawnGateway(configOf(upstream.url), { databaseUrl: database.url })
  return {
    gateway,
    database,
    upstream,
    async [Symbol.asyncDispose]() {
      await gateway.remove()
      await database.remove()
      await upstream.stop()
    },
  }
}
type World = Awaited<ReturnType<typeof startWorld>>

interface Answer {
  readonly id: string
  readonly status: number
  readonly ms: number
}

async function call({ gateway }: World, headers: Record<string, string> = {}): Promise<Answer> {
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

/** Sends calls until `happening` ends, and returns their answers. */
async function callDuring(world: World, happening: () => Promise<void>): Promise<Answer[]> {
  const answers: Answer[] = []
  let over = false
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!over) {
      answers.push(await call(world))
      await Bun.sleep(PAUSE_MS)
    }
  })
  await happening()
  over = true
  await Promise.all(callers)
  return answers
}

/** After the outage every call is in the ledger and in the request log, once. */
async function expectBooked({ database }: World, answers: readonly Answer[]) {
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

test.concurrent.each([
  ['stopped', ({ database }: World) => database.stop(), ({ database }: World) => database.start()],
  [
    'frozen',
    async ({ database }: World) => database.freeze(),
    async ({ database }: World) => database.thaw(),
  ],
] as const)(
  'Postgres %s for 20 s under load: calls are answered, and nothing is missing afterwards',
  async (_, stop, start) => {
    await using world = await startWorld()
    const answers = await callDuring(world, async () => {
      await eventually(async () => (world.upstream.journal.calls.length >= 50 ? true : undefined))
      await stop(world)
      await Bun.sleep(OUTAGE_MS)
      await start(world)
      const called = world.upstream.journal.calls.length
      await eventually(async () =>
        world.upstream.journal.calls.length >= called + 50 ? true : undefined,
      )
    })
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses]).toEqual([200])
    // The commits in flight at the start of a freeze wait for their timeout; no later call does.
    const slow = answers.filter(({ ms }) => ms > 1500)
    expect(slow.length).toBeLessThanOrEqual(CALLERS * 2)
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(6000)
    console.log(`${answers.length} calls, ${slow.length} of them slower than 1.5 s`)
    await expectBooked(world, answers)
  },
  90_000,
)

test.concurrent('an id that the caller chose is used up during an outage too', async () => {
  await using world = await startWorld()
  const { database } = world
  await database.stop()
  try {
    const headers = { 'x-request-id': 'chosen-in-an-outage' }
    const answers = await Promise.all([call(world, headers), call(world, headers)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
  } finally {
    await database.start()
  }
  await expectBooked(world, [{ id: 'chosen-in-an-outage', status: 200, ms: 0 }])
}, 90_000)

// Not an outage, but as long: at the same time as the others it costs no time.
test.concurrent('a stream that is silent for 35 seconds is not cut', async () => {
  await using started = new AsyncDisposableStack()
  const upstream = await startUpstream()
  started.defer(upstream.stop)
  const gateway = await spawnGateway(configOf(upstream.url))
  started.defer(gateway.remove)
  upstream.script(async (x) => {
    await x.begin(200, { 'content-type': 'text/event-stream' })
    await x.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')
    await x.sleep(35_000)
    await x.write('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n')
    await x.end()
  })
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}` },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    signal: AbortSignal.timeout(50_000),
  })
  const text = await response.text()
  expect(text).toContain('"finish_reason":"stop"')
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
}, 90_000)
