import type { DatabaseResult } from './database.ts'
import { type Sample, type Spread, spread } from './measure.ts'

/** A performance budget and its measurement. */
export interface Verdict {
  /** Number in the list of budgets. */
  readonly budget: number
  readonly title: string
  readonly unit: '×' | 'ms' | '%' | ''
  readonly limit: number
  /** Whether `limit` is a maximum; else it is a minimum. */
  readonly atMost: boolean
  readonly value: Spread
  readonly ok: boolean
}

/** Budgets that fail a run with `--gate`. */
export const gates: ReadonlySet<number> = new Set([1, 2, 8])

export function verdicts(samples: readonly Sample[], database: DatabaseResult): Verdict[] {
  const list: Verdict[] = []
  function add(
    budget: number,
    title: string,
    values: readonly number[],
    limit: number,
    unit: Verdict['unit'],
    atMost = true,
  ) {
    const value = spread(values)
    const ok = atMost ? value.median <= limit : value.median >= limit
    list.push({ budget, title, unit, limit, atMost, value, ok })
  }

  const cpu = (row: string, target: string) => pick(samples, row, target, (s) => s.cpuMicros)
  /** CPU divided by the CPU of the JSON pass-through in the same pass. */
  const ratios = (row: string, target: string, referenceRow = row) =>
    pairwise(cpu(row, target), cpu(referenceRow, 'json'), (a, b) => a / b)
  const added = (row: string, what: (sample: Sample) => number) =>
    pairwise(pick(samples, row, 'G', what), pick(samples, row, 'direct', what), (a, b) => a - b)

  add(1, 'T, buffered', ratios('buffered', 'T'), 2, '×')
  add(1, 'G, buffered', ratios('buffered', 'G'), 3.5, '×')
  add(1, 'G, buffered, caller-chosen ids', ratios('chosen', 'G', 'buffered'), 3.5, '×')
  add(2, 'T, 64 events, each by itself', ratios('paced', 'T'), 2, '×')
  add(2, 'G, 64 events, each by itself', ratios('paced', 'G'), 3, '×')
  add(2, 'T, 64 events in one piece', ratios('stream', 'T'), 2, '×')
  add(2, 'G, 64 events in one piece', ratios('stream', 'G'), 3, '×')
  const p50 = (sample: Sample) => sample.p50
  const p99 = (sample: Sample) => sample.p99
  add(3, 'G, added latency, p50', added('alone', p50), 0.5, 'ms')
  add(3, 'G, added latency, p99', added('alone', p99), 2, 'ms')
  add(
    3,
    'G, added to the first byte, p50',
    added('alone_stream', (s) => s.firstByteP50),
    0.5,
    'ms',
  )
  const reads = (target: string) =>
    pick(samples, 'alone_stream', target, ({ readsPerReply }) => readsPerReply)
  const framesKept = pairwise(reads('G'), reads('direct'), (a, b) => (a / b) * 100)
  add(3, 'G, frames that arrive by themselves', framesKept, 99, '%', false)
  const inMs = (values: readonly number[]) => values.map((micros) => micros / 1000)
  add(7, 'T, prompt of 400 KB, CPU', inMs(cpu('prompt', 'T')), 3, 'ms')
  add(7, 'G, prompt of 400 KB, CPU', inMs(cpu('prompt', 'G')), 3, 'ms')
  const { beforeDispatch, throughput } = database
  // The minimum, because every trial has the round trips of the request, and some also those of the
  // gateway's background work, which queries the database several times a second.
  add(8, 'round trips before dispatch', [Math.min(...beforeDispatch.generated)], 0, '')
  add(8, 'the same, caller-chosen ids', [Math.min(...beforeDispatch.chosen)], 1, '')
  const kept = throughput.map(({ at0ms, at10ms }) => (at10ms / at0ms) * 100)
  add(8, 'throughput kept at 10 ms per commit', kept, 90, '%', false)
  /** Divided by the pass-through that copies bytes, because the proxy does so, too. */
  const mcp = (row: string) => pairwise(cpu(row, 'G'), cpu(row, 'plain'), (a, b) => a / b)
  add(9, 'MCP, ping', mcp('mcp_ping'), 3, '×')
  add(9, 'MCP, tools/call', mcp('mcp_call'), 3, '×')
  add(9, 'MCP, tools/call, as events', mcp('mcp_events'), 3, '×')
  /** The difference to the pass-through in the same pass. */
  const late = (row: string) =>
    pairwise(pick(samples, row, 'G', p99), pick(samples, row, 'plain', p99), (a, b) => a - b)
  add(9, 'MCP, ping, added latency, p99', late('mcp_ping_alone'), 1, 'ms')
  add(9, 'MCP, tools/call, added latency, p99', late('mcp_call_alone'), 1, 'ms')
  return list
}

/** One value per pass, in order of the passes. */
function pick(
  samples: readonly Sample[],
  row: string,
  target: string,
  what: (sample: Sample) => number,
): number[] {
  return samples.filter((s) => s.row === row && s.target === target).map(what)
}

/** Combines two values of the same pass, for each pass. */
function pairwise(
  left: readonly number[],
  right: readonly number[],
  combine: (a: number, b: number) => number,
): number[] {
  return left.map((value, pass) => combine(value, right[pass] ?? Number.NaN))
}
