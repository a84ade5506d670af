import { createTestDatabase } from '../test/harness/database.ts'
import { startBenchGateway } from './gateways.ts'
import { measure, type Row, type Target } from './measure.ts'
import { benchRows, chatBody } from './rows.ts'
import { startWire } from './wire.ts'

export interface DatabaseResult {
  /** Round trips from a request's arrival until well after its dispatch, one number per trial. */
  readonly beforeDispatch: { readonly generated: number[]; readonly chosen: number[] }
  /** Requests per round trip, at the load of the buffered rows. */
  readonly requestsPerRoundTrip: { readonly generated: number; readonly chosen: number }
  /** Requests per second without and with a delay of each commit; one pair per pass. */
  readonly throughput: readonly { readonly at0ms: number; readonly at10ms: number }[]
}

const COMMIT_MS = 10
/**
 * Concurrent callers. Each waits for the commit in progress and then for the next one, so few
 * callers cannot load the gateway: 32 would send at most some 2,000 requests per second.
 */
export const CALLERS = 512
const WARM_UP = { quick: 3000, full: 12_000 }
const LOAD = { quick: 2000, full: 12_000 }
const TRIALS = { quick: 6, full: 9 }
/**
 * How long the upstream waits before it answers. Round trips are counted in the middle of this
 * time.
 */
const ANSWER_MS = 200
/**
 * Longer than the gateway collects a batch of log rows, so that earlier requests add no round
 * trips.
 */
const QUIET_MS = 400

/** A gateway in profile G with a relay between it and its database. */
export async function measureDatabase(options: {
  readonly quick: boolean
  readonly passes: number
  readonly upstreamUrl: string
}): Promise<DatabaseResult> {
  const { quick, passes, upstreamUrl } = options
  const size = quick ? 'quick' : 'full'
  const database = await createTestDatabase()
  const wire = startWire(database.url)
  const gateway = await startBenchGateway({
    profile: 'G',
    upstreamUrl,
    databaseUrl: wire.url,
  })
  const target: Target = { name: 'G', ...gateway, settles: true }
  const { buffered, chosen } = benchRows(quick)

  async function trips(id: Readonly<Record<string, string>>): Promise<number> {
    await Bun.sleep(QUIET_MS)
    const before = wire.roundTrips
    const startedAt = performance.now()
    const reply = fetch(target.url, {
      method: 'POST',
      headers: { ...target.headers, ...id },
      body: chatBody({ metadata: { delay_ms: String(ANSWER_MS) } }),
    })
    await Bun.sleep(ANSWER_MS / 2)
    const found = wire.roundTrips - before
    const { status } = await reply
    if (status !== 200 || performance.now() - startedAt < ANSWER_MS) {
      throw new Error(`the trial did not reach the upstream: status ${status}`)
    }
    return found
  }

  try {
    await measure({ ...buffered, count: WARM_UP[size] }, target, 0, [])
    await measure({ ...chosen, count: chosen.warmUp }, target, 0, [])
    const beforeDispatch = { generated: [] as number[], chosen: [] as number[] }
    for (let trial = 0; trial < TRIALS[size]; trial++) {
      beforeDispatch.generated.push(await trips({}))
      beforeDispatch.chosen.push(await trips({ 'x-request-id': `trial-${trial}` }))
    }

    const share = async (row: Row) => {
      const before = wire.roundTrips
      await measure(row, target, 0, [])
      return row.count / (wire.roundTrips - before)
    }
    const requestsPerRoundTrip = { generated: await share(buffered), chosen: await share(chosen) }

    const crowd = { ...buffered, concurrency: CALLERS, count: LOAD[size] }
    await measure(crowd, target, 0, [])
    const throughput: { at0ms: number; at10ms: number }[] = []
    for (let pass = 0; pass < passes; pass++) {
      const at0ms = (await measure(crowd, target, pass, [])).requestsPerSecond
      wire.delay(COMMIT_MS)
      const at10ms = (await measure(crowd, target, pass, [])).requestsPerSecond
      wire.delay(0)
      throughput.push({ at0ms, at10ms })
    }
    return { beforeDispatch, requestsPerRoundTrip, throughput }
  } finally {
    await gateway.stop()
    wire.stop()
    await database.drop()
  }
}
