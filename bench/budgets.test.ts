import { expect, test } from 'bun:test'
import { verdicts } from './budgets.ts'
import type { DatabaseResult } from './database.ts'
import type { Sample } from './measure.ts'

function sample(row: string, target: string, pass: number, cpuMicros: number): Sample {
  const times = { p50: 1, p99: 1, firstByteP50: 1, firstByteP99: 1, readsPerReply: 64 }
  return { row, target, pass, cpuMicros, postgresMicros: 0, requestsPerSecond: 1, ...times }
}

const database: DatabaseResult = {
  beforeDispatch: { generated: [0, 0, 1], chosen: [2, 3, 2] },
  requestsPerRoundTrip: { generated: 10, chosen: 4 },
  throughput: [{ at0ms: 1000, at10ms: 890 }],
}

test('compares with the reference of the same pass, and reports a missed budget', () => {
  // The second pass is at a busy moment: both take twice as long.
  const samples = [
    ...[sample('buffered', 'json', 1, 40), sample('buffered', 'T', 1, 80)],
    ...[sample('buffered', 'G', 1, 144), sample('chosen', 'G', 1, 140)],
    ...[sample('buffered', 'json', 2, 80), sample('buffered', 'T', 2, 160)],
    ...[sample('buffered', 'G', 2, 288), sample('chosen', 'G', 2, 280)],
  ]
  const byTitle = new Map(verdicts(samples, database).map((verdict) => [verdict.title, verdict]))
  const outcome = (title: string) => {
    const { value, ok } = byTitle.get(title) ?? {}
    return [value?.min, value?.median, value?.max, ok]
  }
  expect(outcome('T, buffered')).toEqual([2, 2, 2, true])
  expect(outcome('G, buffered')).toEqual([3.6, 3.6, 3.6, false])
  expect(outcome('G, buffered, caller-chosen ids')).toEqual([3.5, 3.5, 3.5, true])
  expect(outcome('round trips before dispatch')).toEqual([0, 0, 0, true])
  expect(outcome('the same, caller-chosen ids')).toEqual([2, 2, 2, false])
  expect(outcome('throughput kept at 10 ms per commit')).toEqual([89, 89, 89, false])
  // A budget without a measurement is missed.
  expect(outcome('T, prompt of 400 KB, CPU')[3]).toBe(false)
})
