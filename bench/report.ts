import type { Comparison } from './against.ts'
import type { Verdict } from './budgets.ts'
import { CALLERS, type DatabaseResult } from './database.ts'
import { type Row, type Sample, type Spread, spread } from './measure.ts'

/** The budgets, one line each. */
export function budgetTable(list: readonly Verdict[]): string {
  return table(
    ['#', 'what', 'budget', 'median', 'range', ''],
    list.map(({ budget, title, unit, limit, atMost, value, ok }) => [
      String(budget),
      title,
      `${atMost ? '≤' : '≥'} ${limit} ${unit}`.trim(),
      `${number(value.median)} ${unit}`.trim(),
      range(value),
      ok ? 'ok' : 'MISS',
    ]),
  )
}

/** All rows and targets: medians, and the range of the CPU. */
export function sampleTable(rows: readonly Row[], samples: readonly Sample[]): string {
  const lines: string[][] = []
  for (const { id, title } of rows) {
    const ofRow = samples.filter(({ row }) => row === id)
    for (const target of new Set(ofRow.map((sample) => sample.target))) {
      const ofTarget = ofRow.filter((sample) => sample.target === target)
      const column = (what: (sample: Sample) => number) => spread(ofTarget.map(what))
      const cpu = column(({ cpuMicros }) => cpuMicros)
      lines.push([
        title,
        target,
        number(cpu.median),
        range(cpu),
        target === 'G' ? number(column((s) => s.postgresMicros).median) : '',
        number(column((s) => s.requestsPerSecond).median),
        number(column((s) => s.p50).median),
        number(column((s) => s.p99).median),
        number(column((s) => s.firstByteP50).median),
      ])
    }
  }
  const head = ['row', 'target', 'CPU µs', 'range', 'Postgres µs', 'req/s', 'p50 ms', 'p99 ms']
  return table([...head, 'first byte ms'], lines)
}

/** Two checkouts, one line per row. */
export function comparisonTable(unit: string, list: readonly Comparison[]): string {
  return table(
    [unit, 'old', 'new', 'new/old', '95 %', ''],
    list.map((row) => [
      row.title,
      number(row.old),
      number(row.new),
      row.ratio.toFixed(3),
      `${row.low.toFixed(3)} – ${row.high.toFixed(3)}`,
      row.exceeds ? 'MORE' : 'ok',
    ]),
  )
}

export function databaseLines({ requestsPerRoundTrip, throughput }: DatabaseResult): string {
  const at = (what: 'at0ms' | 'at10ms') => number(spread(throughput.map((t) => t[what])).median)
  const { generated, chosen } = requestsPerRoundTrip
  return [
    `requests per database round trip at concurrency 32: ${number(generated)} with generated ids, ${number(chosen)} with ids of the caller`,
    `throughput with ${CALLERS} callers: ${at('at0ms')} req/s, ${at('at10ms')} with 10 ms per commit`,
  ].join('\n')
}

function number(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0
  return String(Number(value.toFixed(digits)))
}

function range({ min, max }: Spread): string {
  return `${number(min)} – ${number(max)}`
}

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) =>
    Math.max(name.length, ...lines.map((line) => (line[i] ?? '').length)),
  )
  return [head, widths.map((width) => '─'.repeat(width)), ...lines]
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
