import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { createTestDatabase } from '../test/harness/database.ts'
import { type Profile, startBenchGateway } from './gateways.ts'
import { peakMiB, startService } from './machine.ts'
import { measure, spread, type Target } from './measure.ts'
import { medianWithin } from './paired.ts'
import { benchRows } from './rows.ts'
import { governedCounts } from './truth.ts'

/**
 * Each round starts new processes, because two processes of the same gateway differ by some
 * microseconds.
 */
const ROUNDS = 5
/** Passes per round, one in each order: old then new, new then old. */
const PASSES = [
  ['old', 'new'],
  ['new', 'old'],
] as const
/**
 * Requests per measurement. The row in one piece is first, because it warms up the code of the
 * paced one faster.
 */
const ROWS = [
  ['buffered', 2000],
  ['stream', 600],
  ['paced', 192],
] as const
/** New divided by old. A row whose whole interval is above this fails the run. */
const LIMIT = 1.03

/** One figure of both checkouts from the same pass. */
export interface Pair {
  readonly old: number
  readonly new: number
}

export interface Comparison {
  readonly title: string
  readonly old: number
  readonly new: number
  /** New over old within a pass: the median, and its 95 % interval. */
  readonly ratio: number
  readonly low: number
  readonly high: number
  /** Whether the whole interval is above the limit. */
  readonly exceeds: boolean
}

/**
 * The medians of both sides, and of the ratios within each pass, because a busy moment slows both
 * sides.
 */
export function compare(title: string, pairs: readonly Pair[]): Comparison {
  const ratios = pairs.map((pair) => pair.new / pair.old)
  const { median: ratio, low, high } = medianWithin(ratios)
  return {
    title,
    old: spread(pairs.map((pair) => pair.old)).median,
    new: spread(pairs.map((pair) => pair.new)).median,
    ratio,
    low,
    high,
    // Not `low > LIMIT`, so that a row without figures fails.
    exceeds: !(low <= LIMIT),
  }
}

export interface AgainstResult {
  /** CPU µs per request. */
  readonly cpu: readonly Comparison[]
  /** Peak memory in MiB, once per round. */
  readonly memory: readonly Comparison[]
}

/**
 * Measures the gateway of another checkout (old) and of this one (new) in turn. Both use the load
 * generator, upstream and Postgres server of this checkout.
 */
export async function measureAgainst(checkout: string): Promise<AgainstResult> {
  const start = { old: await starterOf(checkout), new: startBenchGateway }
  await using started = new AsyncDisposableStack()
  const upstream = await startService('./upstream.ts')
  started.defer(upstream.stop)
  const cpu = new Map<string, Pair[]>()
  const memory = new Map<string, Pair[]>()
  for (let round = 1; round <= ROUNDS; round++) {
    process.stdout.write(`${round === 1 ? '' : ', '}round ${round} of ${ROUNDS}`)
    await measureRound('T', start, upstream.url, cpu, memory)
    await measureRound('G', start, upstream.url, cpu, memory)
  }
  const compared = (pairs: typeof cpu) => [...pairs].map((entry) => compare(...entry))
  return { cpu: compared(cpu), memory: compared(memory) }
}

type Start = typeof startBenchGateway

/**
 * The checkout's code writes the config and starts the gateway, because config keys differ between
 * commits.
 */
async function starterOf(checkout: string): Promise<Start> {
  const file = resolve(checkout, 'bench/gateways.ts')
  for (const path of [file, resolve(checkout, 'node_modules')]) {
    if (existsSync(path)) continue
    throw new Error(`--against needs a checkout after \`bun install\`: ${path} does not exist`)
  }
  const module: { readonly startBenchGateway: Start } = await import(file)
  return module.startBenchGateway
}

async function measureRound(
  profile: Profile,
  start: Readonly<Record<keyof Pair, Start>>,
  upstreamUrl: string,
  cpu: Map<string, Pair[]>,
  memory: Map<string, Pair[]>,
): Promise<void> {
  await using started = new AsyncDisposableStack()
  async function gateway(side: keyof Pair) {
    const database = await createTestDatabase()
    started.defer(database.drop)
    const running = await start[side]({ profile, upstreamUrl, databaseUrl: database.url })
    started.defer(running.stop)
    const target: Target = { name: `${side} ${profile}`, ...running, settles: profile === 'G' }
    return { target, sql: database.sql }
  }
  const gateways = { old: await gateway('old'), new: await gateway('new') }

  const rows = benchRows(true)
  let sent = 0
  for (const [id, count] of ROWS) {
    const row = { ...rows[id], count }
    const title = `${profile}, ${row.title}`
    for (const { target } of Object.values(gateways)) {
      await measure({ ...row, count: row.warmUp }, target, 0, [])
    }
    for (const order of PASSES) {
      const micros = { old: 0, new: 0 }
      for (const side of order) {
        micros[side] = (await measure(row, gateways[side].target, 0, [])).cpuMicros
      }
      append(cpu, title, micros)
    }
    sent += row.warmUp + PASSES.length * row.count
  }
  const peak = { old: peakMiB(gateways.old.target.pid), new: peakMiB(gateways.new.target.pid) }
  append(memory, `${profile}, peak memory`, peak)
  if (profile === 'T') return
  for (const { sql } of Object.values(gateways)) {
    await governedCounts(sql, { inference: sent, toolCalls: 0 })
  }
}

function append(pairs: Map<string, Pair[]>, title: string, pair: Pair): void {
  pairs.set(title, [...(pairs.get(title) ?? []), pair])
}
