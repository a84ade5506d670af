import type { LoadOrder, LoadResult } from './load.ts'
import { cpuClock, type Service, startService } from './machine.ts'

/** A server that answers chat completions. */
export interface Target {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly headers?: Readonly<Record<string, string>>
  /** It continues to work after its replies; that cost is included. */
  readonly settles?: boolean
  /** A failure removes its row and does not fail the run. */
  readonly optional?: boolean
}

/** One kind of load, and the targets that it is sent to. */
export interface Row {
  readonly id: string
  readonly title: string
  readonly body: string
  /** Replaces the path of the target. */
  readonly path?: string
  readonly count: number
  /** Requests before the first measurement, until the engine has compiled the code. */
  readonly warmUp: number
  readonly concurrency: number
  readonly callerChoosesIds?: boolean
}

/** One measurement. Times are in milliseconds unless their name has another unit. */
export interface Sample {
  readonly row: string
  readonly target: string
  readonly pass: number
  readonly cpuMicros: number
  readonly postgresMicros: number
  readonly requestsPerSecond: number
  readonly p50: number
  readonly p99: number
  readonly firstByteP50: number
  readonly firstByteP99: number
  readonly readsPerReply: number
}

/** Wait for work after the replies: longer than the gateway collects a batch of log rows. */
const SETTLE_MS = 300

let orders = 0

/** Sends the load of a row to a target. `postgres` are the processes of its database. */
export async function measure(
  row: Row,
  target: Target,
  pass: number,
  postgres: readonly number[],
): Promise<Sample> {
  const cpu = cpuClock(target.pid)
  const postgresCpu = postgres.map(cpuClock)
  const result = await sendLoad({
    url: row.path === undefined ? target.url : new URL(row.path, target.url).href,
    headers: target.headers ?? {},
    body: row.body,
    count: row.count,
    concurrency: row.concurrency,
    ...(row.callerChoosesIds === true ? { idPrefix: `bench-${process.pid}-${orders++}` } : {}),
  })
  if (target.settles === true) await Bun.sleep(SETTLE_MS)
  if (result.failures > 0) {
    throw new Error(
      `${target.name}, ${row.id}: ${result.failures} failures: ${result.failure?.slice(0, 200)}`,
    )
  }
  return {
    row: row.id,
    target: target.name,
    pass,
    cpuMicros: cpu() / row.count,
    postgresMicros: postgresCpu.reduce((sum, clock) => sum + clock(), 0) / row.count,
    requestsPerSecond: row.count / result.seconds,
    p50: percentile(result.latencies, 0.5),
    p99: percentile(result.latencies, 0.99),
    firstByteP50: percentile(result.firstBytes, 0.5),
    firstByteP99: percentile(result.firstBytes, 0.99),
    readsPerReply: result.reads / row.count,
  }
}

let generator: Promise<Service> | undefined

/** The load generator, started at first use. */
export function loadGenerator(): Promise<Service> {
  generator ??= startService('./load.ts')
  return generator
}

/** Ends the load generator; the next load starts a new one. */
export async function stopLoadGenerator(): Promise<void> {
  const running = generator
  generator = undefined
  await (await running)?.stop()
}

export async function sendLoad(order: LoadOrder): Promise<LoadResult> {
  const { url } = await loadGenerator()
  const reply = await fetch(url, { method: 'POST', body: JSON.stringify(order), timeout: false })
  return (await reply.json()) as LoadResult
}

/** A quantile of values in ascending order. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
}

/** Summary of several measurements of one value. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return {
    median: sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2,
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
  }
}
