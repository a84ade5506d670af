import { afterAll, beforeAll, expect, test } from 'bun:test'
import { availableParallelism, loadavg } from 'node:os'
import { type BenchGateway, startBenchGateway, UPSTREAM_MODEL } from '../../bench/gateways.ts'
import { type Service, startService } from '../../bench/machine.ts'
import { callBody, MCP_PATH } from '../../bench/mcp.ts'
import { measure, type Row, spread, stopLoadGenerator, type Target } from '../../bench/measure.ts'
import { chatBody } from '../../bench/rows.ts'
import { governedCounts } from '../../bench/truth.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { testKey } from '../harness/gateway.ts'
import { memoryMb } from '../harness/process-tree.ts'
import { MEASURED, MINUTES } from './size.ts'

/**
 * An hour of load on a gateway with 10,000 keys, 1,000 models and 10,000 budgets, beside one with a
 * key, a model and no budget:
 *
 *     GATEWAY_LONG_MINUTES=60 bun test ./test/long/soak.long.ts
 *
 * What is promised is printed beside what was seen; what is expected here is what no change may do.
 */
const PEOPLE = 10_000
const MODELS = 1_000
const CONCURRENCY = 32
/** Memory is compared in so many windows: the engine collects when it likes, so their least counts. */
const WINDOWS = 6

interface Subject {
  readonly name: string
  readonly database: TestDatabase
  readonly gateway: BenchGateway
  /** What it was sent. */
  readonly sent: { inference: number; toolCalls: number }
}

let upstream: Service
let reference: Service
let small: Subject
let grown: Subject

const modelNames = Array.from({ length: MODELS }, (_, n) => `chat-${n}`)
const keys = Array.from({ length: PEOPLE }, (_, n) => testKey(`person ${n}`))

const grownSections = {
  users: keys.map((key, n) => ({
    name: `Person ${n}`,
    email: `person${n}@example.com`,
    api_keys: [{ name: 'test', value: `literal.${key}`, all_models: true }],
  })),
  models: modelNames.map((id) => ({
    id,
    routes: [{ provider: 'upstream', upstream_model: UPSTREAM_MODEL }],
  })),
  budgets: { users: { default: { cadence: 'monthly', amount_usd: '1000' } } },
}

async function start(name: string, sections: Record<string, unknown>): Promise<Subject> {
  const database = await createTestDatabase()
  const began = performance.now()
  const gateway = await startBenchGateway({
    profile: 'G',
    upstreamUrl: upstream.url,
    databaseUrl: database.url,
    sections,
  })
  console.log(`${name}: served after ${Math.round(performance.now() - began)} ms, empty database`)
  return { name, database, gateway, sent: { inference: 0, toolCalls: 0 } }
}

beforeAll(async () => {
  upstream = await startService('./upstream.ts')
  reference = await startService('./reference.ts', 'json', upstream.url)
  small = await start('small', {})
  grown = await start('grown', grownSections)
}, 120_000)

afterAll(async () => {
  for (const subject of [small, grown]) {
    await subject?.gateway.stop()
    await subject?.database.drop()
  }
  await reference?.stop()
  await upstream?.stop()
  await stopLoadGenerator()
}, 60_000)

/** What the gateway keeps of each owner and each model it has then, and does not come with the load. */
async function letEverybodyCall({ gateway, sent }: Subject): Promise<void> {
  for (let n = 0; n < PEOPLE; n += CONCURRENCY) {
    const some = keys.slice(n, n + CONCURRENCY).map(async (key, i) => {
      const reply = await fetch(gateway.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: chatBody({ model: modelNames[(n + i) % MODELS] as string }),
      })
      await reply.text()
      if (!reply.ok) throw new Error(`a first call was answered with ${reply.status}`)
    })
    await Promise.all(some)
    sent.inference += some.length
  }
}

function load(body: string, count: number, rest: Partial<Row> = {}): Row {
  return { id: 'soak', title: '', body, count, warmUp: 0, concurrency: CONCURRENCY, ...rest }
}

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T

/** A caller and a model that the gateway has. */
function anybody(subject: Subject): { target: Target; model?: string } {
  const { gateway, name } = subject
  const target: Target = { name, ...gateway, settles: true }
  if (subject === small) return { target }
  const headers = { authorization: `Bearer ${pick(keys)}` }
  return { target: { ...target, headers }, model: pick(modelNames) }
}

/** A little of each kind of call; microseconds of CPU for a buffered one. */
async function round(subject: Subject, pass: number): Promise<number> {
  const send = async (row: (model?: string) => Row) => {
    const { target, model } = anybody(subject)
    const sent = row(model)
    const sample = await measure(sent, target, pass, [])
    subject.sent[sent.path === undefined ? 'inference' : 'toolCalls'] += sent.count
    return sample.cpuMicros
  }
  const shape = (model?: string) => (model === undefined ? {} : { model })
  const cpu = await send((model) => load(chatBody(shape(model)), 600))
  await send((model) => load(chatBody({ ...shape(model), stream: true }), 200))
  const metadata = { pace_ms: '2' }
  await send((model) => load(chatBody({ ...shape(model), stream: true, metadata }), 64))
  await send(() => load(callBody, 200, { path: MCP_PATH }))
  return cpu
}

/** The change of a value from one to the next. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  let above = 0
  let below = 0
  for (const [at, value] of values.entries()) {
    above += (at - middle) * (value - mean)
    below += (at - middle) ** 2
  }
  return above / below
}

test(
  `${MINUTES} minutes of load: every call is booked, and late ones cost what early ones did`,
  async () => {
    const plain: Target = {
      name: 'json',
      url: `${reference.url}/v1/chat/completions`,
      pid: reference.pid,
    }
    /** CPU of a call: of the small gateway and of the grown one, in the reference's. */
    const ratios: { small: number; grown: number }[] = []
    const windows: number[] = Array.from({ length: WINDOWS }, () => Number.POSITIVE_INFINITY)
    await letEverybodyCall(grown)
    const begin = performance.now()
    const length = MINUTES * 60_000
    let said = begin
    for (let pass = 0; performance.now() - begin < length; pass++) {
      const one = (await measure(load(chatBody(), 600), plain, pass, [])).cpuMicros
      ratios.push({
        small: (await round(small, pass)) / one,
        grown: (await round(grown, pass)) / one,
      })
      const elapsed = performance.now() - begin
      const window = Math.min(WINDOWS - 1, Math.floor((elapsed / length) * WINDOWS))
      const memory = memoryMb(grown.gateway.pid)
      windows[window] = Math.min(windows[window] as number, memory)
      if (performance.now() - said > 60_000) {
        said = performance.now()
        const { sent } = grown
        console.log(
          `${Math.round(elapsed / 60_000)} min: ${sent.inference} calls, ${memory.toFixed(0)} MB`,
        )
      }
    }

    const part = (from: number, to: number) => {
      const some = ratios.slice(Math.floor(ratios.length * from), Math.ceil(ratios.length * to))
      const median = (which: 'small' | 'grown') => spread(some.map((row) => row[which])).median
      return { small: median('small'), grown: median('grown') }
    }
    // The first third goes to warming up.
    const [early, late] = [part(1 / 3, 2 / 3), part(2 / 3, 1)]
    const perMinute = (slope(windows.slice(1)) * WINDOWS) / MINUTES
    const told = (ratio: { small: number; grown: number }) =>
      `small ${ratio.small.toFixed(2)} ×, grown ${ratio.grown.toFixed(2)} × the pass-through`
    console.log(`load of the machine ${loadavg()[0]?.toFixed(1)} of ${availableParallelism()}`)
    console.log(`second third: ${told(early)}; last third: ${told(late)} (promised: 3.5)`)
    console.log(
      `least memory in ${WINDOWS} windows: ${windows.map(Math.round).join(', ')} MB: ` +
        `${perMinute.toFixed(2)} MB a minute (promised: 0.1)`,
    )
    for (const { database, sent } of [small, grown]) {
      console.log(await governedCounts(database.sql, sent))
    }
    if (!MEASURED) return
    // Growth costs nothing that could be told from the noise of a shared machine.
    expect(late.grown).toBeLessThan(late.small * 1.3)
    expect(late.grown).toBeLessThan(early.grown * 1.3)
    expect(perMinute).toBeLessThan(1)
  },
  MINUTES * 60_000 + 120_000,
)
