import { describe, expect, test } from 'bun:test'
import pino from 'pino'
import { createBatchWriter, type Limits, usualLimits } from './batch-writer.ts'
import type { Row } from './row.ts'

const row = (n: number): Row => ({ occurredAt: 0, json: `{"n":${n}}` })
const rows = (from: number, count: number) => Array.from({ length: count }, (_, i) => row(from + i))
const numbers = (batch: readonly Row[]): number[] => batch.map(({ json }) => JSON.parse(json).n)
const sleep = (ms: number) => Bun.sleep(ms)

/** A writer over `write`, with what it logged. */
function open(write: (batch: readonly Row[]) => Promise<void>, changes: Partial<Limits> = {}) {
  const logged: { level: number; msg: string; lost?: number }[] = []
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const limits = { ...usualLimits, gatherMs: 20, retryMinMs: 5, retryMaxMs: 10, ...changes }
  const writer = createBatchWriter(write, log, limits)
  return {
    ...writer,
    pushAll: (batch: readonly Row[]) => batch.forEach(writer.push),
    logged,
    losses: () => logged.flatMap(({ lost }) => lost ?? []),
  }
}

/** Keeps what it is given. */
function sink() {
  const batches: number[][] = []
  return { batches, write: async (batch: readonly Row[]) => void batches.push(numbers(batch)) }
}

describe('batch writer', () => {
  test('rows gather for a while and go in one batch', async () => {
    const { batches, write } = sink()
    const writer = open(write)
    writer.pushAll(rows(0, 3))
    await sleep(2)
    writer.push(row(3))
    expect(batches).toEqual([])
    await sleep(40)
    expect(batches).toEqual([[0, 1, 2, 3]])
    writer.push(row(4))
    await sleep(40)
    expect(batches[1]).toEqual([4])
  })

  test('a full batch goes at once, and none is larger', async () => {
    const { batches, write } = sink()
    const writer = open(write, { batchRows: 10, gatherMs: 60_000 })
    writer.pushAll(rows(0, 20))
    await sleep(5)
    expect(batches.map((batch) => batch.length)).toEqual([10, 10])
    writer.pushAll(rows(20, 3))
    await writer.close()
    expect(batches.flat()).toEqual(Array.from({ length: 23 }, (_, n) => n))
  })

  test('one batch is being written at a time', async () => {
    let writing = 0
    let most = 0
    const writer = open(
      async () => {
        writing += 1
        most = Math.max(most, writing)
        await sleep(2)
        writing -= 1
      },
      { batchRows: 5 },
    )
    writer.pushAll(rows(0, 50))
    await writer.close()
    expect(most).toBe(1)
  })

  test('while the database is away rows wait, in order, and none is lost or written twice', async () => {
    const { batches, write } = sink()
    let away = true
    const writer = open(
      async (batch) => {
        if (away) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
        await write(batch)
      },
      { batchRows: 4 },
    )
    writer.pushAll(rows(0, 5))
    await sleep(60)
    writer.pushAll(rows(5, 5))
    away = false
    await sleep(60)
    expect(batches.flat()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(writer.logged.map(({ level }) => level)).toEqual([40, 30])
    await writer.close()
  })

  test('a row that the database refuses costs no other row', async () => {
    const { batches, write } = sink()
    const writer = open(async (batch) => {
      if (numbers(batch).some((n) => n === 3 || n === 8)) {
        throw Object.assign(new Error('bad value'), { code: '22P02' })
      }
      await write(batch)
    })
    writer.pushAll(rows(0, 10))
    await writer.close()
    expect(batches.flat()).toEqual([0, 1, 2, 4, 5, 6, 7, 9])
    expect(writer.losses().reduce((sum, n) => sum + n, 0)).toBe(2)
  })

  test('a full queue loses rows, counts them, and reports at a bounded rate', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const written: number[] = []
    const writer = open(
      async (batch) => {
        await gate
        written.push(...numbers(batch))
      },
      { queueChars: 70, gatherMs: 0 },
    )
    // Seven characters each: ten fit.
    writer.pushAll(rows(0, 10).concat(rows(1, 100)))
    expect(writer.losses()).toEqual([1])
    release()
    await writer.close()
    expect(written).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(writer.losses()).toEqual([1, 99])
  })

  test('closing writes what waits, at once', async () => {
    const { batches, write } = sink()
    const writer = open(write, { gatherMs: 60_000 })
    writer.pushAll(rows(0, 3))
    await writer.close()
    expect(batches).toEqual([[0, 1, 2]])
    await writer.close()
  })

  test('closing ends, and says what is lost, although a write never answers', async () => {
    const writer = open(() => new Promise(() => {}), { batchRows: 2, drainMs: 30 })
    writer.pushAll(rows(0, 5))
    await writer.close()
    expect(writer.losses()).toEqual([5])
    await writer.close()
    expect(writer.losses()).toEqual([5])
  })

  test('closing ends although the database stays away', async () => {
    let tries = 0
    const writer = open(
      async () => {
        tries += 1
        throw new Error('away')
      },
      { drainMs: 30 },
    )
    writer.pushAll(rows(0, 5))
    await writer.close()
    expect(writer.losses()).toEqual([5])
    const triesAtEnd = tries
    await sleep(30)
    expect(tries).toBe(triesAtEnd)
  })
})
