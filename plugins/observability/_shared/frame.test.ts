import { expect, test } from 'bun:test'
import { frameOf, type Range } from './frame.ts'

test.each([
  ['7d', '2026-11-21T11:59:59.999Z', '2026-11-14T12:00:00.000Z', '2026-11-21T12:00:00.000Z', 14],
  ['7d', '2026-11-21T12:00:00.000Z', '2026-11-15T00:00:00.000Z', '2026-11-22T00:00:00.000Z', 14],
  ['31d', '2026-03-01T00:00:00.000Z', '2026-01-29T12:00:00.000Z', '2026-03-01T12:00:00.000Z', 62],
] as const)('%s at %s is from %s to %s', (range: Range, at, start, end, buckets) => {
  const frame = frameOf(range, new Date(at))
  expect(frame.start.toISOString()).toBe(start)
  expect(frame.end.toISOString()).toBe(end)
  expect(frame.buckets).toHaveLength(buckets)
  expect(frame.buckets[0]).toBe(start)
  expect(Date.parse(frame.buckets.at(-1) as string)).toBe(frame.end.getTime() - 12 * 3_600_000)
})
