import { expect, test } from 'bun:test'
import type { Accounting, GatewayError } from '../plugin/index.ts'
import { readOut, startDrain } from './read-out.ts'
import type { Watchdog } from './watchdog.ts'

/** A drain, and the reason with which its call was aborted. */
function begin(ms = 60_000) {
  const accounting = { abortDrainMs: () => ms } as Accounting
  const reasons: GatewayError[] = []
  const watchdog = { abort: (reason: GatewayError) => reasons.push(reason) } as unknown as Watchdog
  return { drain: startDrain(watchdog, accounting), reasons }
}

test('a thousand streams are read on for callers that have left, and no more', async () => {
  const many = Array.from({ length: 1000 }, () => begin())
  const next = begin()
  await Bun.sleep(5)
  expect(many.every(({ reasons }) => reasons.length === 0)).toBe(true)
  expect(next.reasons).toMatchObject([{ code: 'upstream_timeout' }])
  for (const { drain } of [...many, next]) drain.stop()
  const later = begin()
  await Bun.sleep(5)
  expect(later.reasons).toEqual([])
  later.drain.stop()
})

test('a call that has ended is not broken off any more', async () => {
  const { drain, reasons } = begin(10)
  drain.stop()
  const other = begin(10)
  await Bun.sleep(40)
  expect(reasons).toEqual([])
  expect(other.reasons).toMatchObject([{ code: 'upstream_timeout' }])
  other.drain.stop()
})

test('a finished stream is read to its end, and broken off when it has none', async () => {
  let brokenOff = 0
  let read = 0
  async function* trailer() {
    for (; read < 3; read++) yield read
  }
  readOut(trailer(), () => brokenOff++)
  await Bun.sleep(5)
  expect(read).toBe(3)
  readOut({ next: () => new Promise(() => {}) }, () => brokenOff++)
  await Bun.sleep(1100)
  expect(brokenOff).toBe(1)
})

test('a finished stream that goes on although it was broken off is not read any more', async () => {
  let asked = 0
  let goesOn = true
  const next = async () => {
    asked += 1
    await Bun.sleep(5)
    return { done: !goesOn, value: undefined }
  }
  const { promise, resolve } = Promise.withResolvers<void>()
  readOut({ next } as AsyncIterator<unknown>, resolve)
  await promise
  const before = asked
  await Bun.sleep(50)
  goesOn = false
  expect(asked).toBe(before)
})
