import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { type Limits, usualLimits } from './batch-limits.ts'
import { PIECE_CHARS } from './batch-pieces.ts'
import type { BatchRow } from './batch-row.ts'
import { createBatchWriter } from './batch-writer.ts'
import { createRoom } from './room.ts'
import { openSpool } from './spool.ts'
import { createTally } from './tally.ts'
import { createWriteAhead } from './write-ahead.ts'

const folder = mkdtempSync(join(tmpdir(), 'request-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const row = (n: number, payload?: string): BatchRow => ({ json: `{"n":${n}}`, payload })
const rows = (from: number, count: number, payload?: string) =>
  Array.from({ length: count }, (_, i) => row(from + i, payload))
const numbers = (batch: readonly BatchRow[]): number[] =>
  batch.map(({ json }) => JSON.parse(json).n)
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)
const sleep = (ms: number) => Bun.sleep(ms)
/** Passes when `check` does, however busy the machine is. */
async function soon(check: () => void): Promise<void> {
  const deadline = performance.now() + 5_000
  for (;;) {
    try {
      return check()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(5)
    }
  }
}
const refused = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })

type Changes = Partial<Limits> & { readonly payloadChars?: number; readonly directory?: string }

/** A writer over `write` with a separate spool, and its log. */
async function open(write: (batch: readonly BatchRow[]) => Promise<void>, changes: Changes = {}) {
  const { payloadChars = 1_000_000, directory = mkdtempSync(join(folder, 's')), ...own } = changes
  const settled: number[] = []
  const dropped: number[] = []
  const logged: { level: number; msg: string; lost?: number; shed?: number }[] = []
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const quick = { gatherMs: 20, retryMinMs: 5, retryMaxMs: 10, writeMs: 50, awayMs: 60 }
  const tally = (name: string) => createTally({ log, name, message: name })
  const spool = openSpool({ directory, name: 'rows', log })
  await spool.adopt()
  const [shed, lost] = [tally('shed'), tally('lost')]
  const writer = createBatchWriter({
    name: 'the rows',
    write,
    toRecord: ({ json }) => json,
    fromRecord: (json) => ({ json, payload: undefined }),
    settled: (batch) => void settled.push(...numbers(batch)),
    dropped: (batch) => void dropped.push(...numbers(batch)),
    spool,
    ahead: createWriteAhead(directory, 'rows'),
    payloads: { room: createRoom(payloadChars), shed },
    lost,
    log,
    limits: { ...usualLimits, ...quick, ...own },
  })
  return {
    ...writer,
    pushAll: (batch: readonly BatchRow[]) => batch.forEach(writer.push),
    settled,
    dropped,
    logged,
    directory,
    spool,
    /** The disk takes nothing more. */
    breakSpool() {
      rmSync(directory, { recursive: true })
      writeFileSync(directory, 'no folder')
    },
    shed,
    lost,
  }
}

/** A database that keeps each row once, and can be away or hung. */
function sink() {
  const batches: BatchRow[][] = []
  const seen = new Set<number>()
  let state: 'up' | 'away' | 'hung' = 'up'
  let hanging: (() => void)[] = []
  const keep = (batch: readonly BatchRow[]) => {
    batches.push(batch.filter(({ json }) => !seen.has(JSON.parse(json).n)))
    for (const n of numbers(batch)) seen.add(n)
  }
  return {
    batches,
    numbers: () => batches.flatMap(numbers),
    set(next: 'up' | 'away' | 'hung') {
      state = next
      if (next === 'hung') return
      for (const answer of hanging) answer()
      hanging = []
    },
    hanging: () => hanging.length,
    async write(batch: readonly BatchRow[]) {
      if (state === 'away') throw refused()
      if (state === 'hung') await new Promise<void>((resolve) => hanging.push(resolve))
      keep(batch)
    },
  }
}

describe('batch writer', () => {
  test('written payloads free memory for others', async () => {
    const database = sink()
    // What comes first is let in whatever its size.
    const writer = await open(database.write, { payloadChars: 50 })
    for (let n = 0; n < 4; n++) {
      writer.push(row(n, '"p":"'.padEnd(59, 'x')))
      await soon(() => expect(database.numbers()).toHaveLength(n + 1))
    }
    expect(database.batches.flat().every(({ payload }) => payload !== undefined)).toBe(true)
    expect(writer.shed.total).toBe(0)
    await writer.close()
  })

  test('written rows free memory for others, and batches form again', async () => {
    const database = sink()
    const limits = { queueChars: 70, batchChars: 100, gatherMs: 5 }
    const writer = await open(database.write, limits)
    for (let n = 0; n < 20; n++) {
      writer.push(row(n, 'x'.repeat(95)))
      await soon(() => expect(database.numbers()).toHaveLength(n + 1))
    }
    expect(writer.settled).toEqual(upTo(20))
    await writer.close()
    expect(readdirSync(writer.directory)).toEqual([])

    const patient = await open(database.write, { ...limits, gatherMs: 60_000 })
    patient.push(row(20, 'x'.repeat(95)))
    await soon(() => expect(database.numbers()).toHaveLength(21))
    patient.push(row(21))
    await sleep(20)
    expect(patient.waiting()).toBe(1)
    await patient.close()
  })

  test('rows that arrive during a write use at most three connections', async () => {
    const database = sink()
    database.set('hung')
    const own = { payloadChars: 10 * PIECE_CHARS, writeMs: 60_000 }
    const writer = await open(database.write, own)
    writer.pushAll(rows(0, 8, 'x'.repeat(PIECE_CHARS * 0.9)))
    await soon(() => expect(database.hanging()).toBeGreaterThan(0))
    await sleep(20)
    expect(database.hanging()).toBe(3)
    database.set('up')
    await writer.close()
    expect(database.numbers()).toEqual(upTo(8))
  })

  test('rows wait shortly and go in one batch', async () => {
    const database = sink()
    const writer = await open(database.write)
    writer.pushAll(rows(0, 3))
    await sleep(2)
    writer.push(row(3))
    expect(database.batches).toEqual([])
    await soon(() => expect(database.batches.map(numbers)).toEqual([[0, 1, 2, 3]]))
    writer.push(row(4))
    await soon(() => expect(database.batches.map(numbers)).toEqual([[0, 1, 2, 3], [4]]))
    await writer.close()
  })

  test('a full batch is written at once, and none is larger', async () => {
    const database = sink()
    const writer = await open(database.write, { batchRows: 10, gatherMs: 60_000 })
    writer.pushAll(rows(0, 20))
    await soon(() => expect(database.batches.map((batch) => batch.length)).toEqual([10, 10]))
    writer.pushAll(rows(20, 3))
    await writer.close()
    expect(database.numbers()).toEqual(upTo(23))
  })

  test('large payloads also fill a batch', async () => {
    const database = sink()
    const writer = await open(database.write, {
      batchChars: 1_000,
      mostChars: 1_000,
      gatherMs: 60_000,
    })
    writer.pushAll([...rows(0, 5, 'x'.repeat(400)), row(5, 'x'.repeat(5_000)), row(6)])
    await writer.close()
    expect(database.batches.map(numbers)).toEqual([[0, 1], [2, 3], [4], [5], [6]])
    expect(database.batches.flat().every(({ payload }, n) => n === 6 || payload)).toBe(true)
  })

  test('rows that arrive during a write go together, in a larger batch', async () => {
    const database = sink()
    database.set('hung')
    const limits = { batchChars: 1_000, mostChars: 2_000, gatherMs: 60_000, writeMs: 60_000 }
    const writer = await open(database.write, limits)
    const payload = 'x'.repeat(493)
    writer.pushAll(rows(0, 2, payload))
    await soon(() => expect(database.hanging()).toBe(1))
    writer.pushAll(rows(2, 6, payload))
    database.set('up')
    await soon(() =>
      expect(database.batches.map(numbers)).toEqual([
        [0, 1],
        [2, 3, 4, 5],
        [6, 7],
      ]),
    )
    await writer.close()
  })

  test('one batch is written at a time', async () => {
    let writing = 0
    let most = 0
    const writer = await open(
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

  test('during a short outage rows wait, with their payloads', async () => {
    const database = sink()
    database.set('away')
    const writer = await open(database.write, { batchRows: 4, awayMs: 60_000 })
    writer.pushAll(rows(0, 5, 'body'))
    await sleep(30)
    writer.pushAll(rows(5, 5, 'body'))
    database.set('up')
    await soon(() => expect(database.numbers()).toEqual(upTo(10)))
    expect(database.batches.flat().every(({ payload }) => payload === 'body')).toBe(true)
    expect(writer.logged.map(({ level }) => level)).toEqual([40, 30])
    await writer.close()
  })

  test.each(['away', 'hung'] as const)(
    'while it is %s for longer they go to the spool, and all are written once',
    async (state) => {
      const database = sink()
      const writer = await open(database.write, { batchRows: 4 })
      database.set(state)
      writer.pushAll(rows(0, 10, 'body'))
      await soon(() => {
        expect(writer.away()).toBe(true)
        expect(writer.spool.depth).toBe(10)
        expect(writer.waiting()).toBe(0)
      })
      writer.pushAll(rows(10, 5, 'body'))
      await soon(() => expect(writer.spool.depth).toBe(15))
      expect(writer.shed.total).toBe(15)
      expect(writer.settled).toEqual(upTo(15))
      // What is not answered is not piled up.
      expect(database.hanging()).toBeLessThanOrEqual(2)
      database.set('up')
      await soon(() => {
        expect(writer.away()).toBe(false)
        expect(writer.spool.depth).toBe(0)
      })
      writer.push(row(15, 'body'))
      await writer.close()
      expect(database.numbers().sort((a, b) => a - b)).toEqual(upTo(16))
      expect(database.batches.flat().at(-1)?.payload).toBe('body')
      expect(writer.lost.total).toBe(0)
    },
  )

  test('writes the spool of an ended process first', async () => {
    const database = sink()
    database.set('away')
    const first = await open(database.write)
    first.pushAll(rows(0, 5, 'body'))
    await first.close()
    expect(first.lost.total).toBe(0)
    expect(database.numbers()).toEqual([])
    database.set('up')
    const second = await open(database.write, { directory: first.directory })
    await soon(() => expect(database.numbers()).toEqual(upTo(5)))
    second.push(row(5))
    await second.close()
    expect(database.numbers()).toEqual(upTo(6))
  })

  test('a rejected row first loses its payload, and affects no other row', async () => {
    const kept: BatchRow[] = []
    const bad = (r: BatchRow) => r.payload === 'bad' || r.json === '{"n":8}'
    const writer = await open(async (batch) => {
      if (batch.some(bad)) throw Object.assign(new Error('bad value'), { code: '22P02' })
      kept.push(...batch)
    })
    writer.pushAll([...rows(0, 3, 'good'), row(3, 'bad'), ...rows(4, 6, 'good')])
    await writer.close()
    expect(numbers(kept)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 9])
    expect(kept.filter(({ payload }) => payload === undefined)).toEqual([row(3)])
    expect(writer.lost.total).toBe(1)
    expect(writer.settled.toSorted((a, b) => a - b)).toEqual(upTo(10))
    // BatchRow 8 lost its payload before it was lost itself.
    expect(writer.shed.total).toBe(2)
  })

  test('payloads above the limit are dropped, counted and logged at a limited rate', async () => {
    const database = sink()
    const writer = await open(database.write, { payloadChars: 35, gatherMs: 60_000 })
    writer.pushAll(rows(0, 10, '1234567890'))
    await writer.close()
    const kept = database.batches.flat().map(({ payload }) => payload !== undefined)
    expect(kept.filter(Boolean)).toHaveLength(3)
    expect(kept).toHaveLength(10)
    expect(writer.shed.total).toBe(7)
    expect(writer.logged.flatMap(({ shed }) => shed ?? [])).toEqual([1, 6])
  })

  test('rows above the limit go to the spool', async () => {
    const database = sink()
    database.set('hung')
    const writer = await open(database.write, { queueChars: 70, gatherMs: 0, writeMs: 10_000 })
    // Seven characters each: ten fit.
    writer.pushAll(rows(0, 30))
    await soon(() => expect(writer.spool.depth).toBe(20))
    database.set('up')
    await sleep(60)
    await writer.close()
    expect(database.numbers().sort((a, b) => a - b)).toEqual(upTo(30))
    expect(writer.lost.total).toBe(0)
  })

  test('a row that goes to the spool drops its payload, and frees its memory', async () => {
    const database = sink()
    database.set('hung')
    const own = { queueChars: 13, payloadChars: 100, gatherMs: 0, writeMs: 60_000 }
    const writer = await open(database.write, own)
    const payload = 'x'.repeat(60)
    writer.push(row(0))
    await soon(() => expect(database.hanging()).toBe(1))
    writer.push(row(1))
    writer.push(row(2, payload))
    await soon(() => expect(writer.settled).toEqual([2]))
    expect(writer.shed.total).toBe(1)
    database.set('up')
    await soon(() => expect(database.numbers()).toHaveLength(3))
    writer.push(row(3, payload))
    await writer.close()
    expect(database.batches.flat().at(-1)).toEqual(row(3, payload))
    expect(writer.shed.total).toBe(1)
  })

  test('after a long outage the database is tried as often as before', async () => {
    let asked = 0
    const writer = await open(
      async () => {
        asked += 1
        throw refused()
      },
      { gatherMs: 5 },
    )
    writer.push(row(0))
    await soon(() => expect(writer.away()).toBe(true))
    asked = 0
    await soon(() => expect(asked).toBeGreaterThan(14))
    await writer.close()
  })

  test('without a spool rows wait in memory up to the limit', async () => {
    const database = sink()
    database.set('away')
    const writer = await open(database.write, { queueChars: 70 })
    writer.breakSpool()
    writer.pushAll(rows(0, 10))
    await soon(() => expect(writer.away()).toBe(true))
    writer.pushAll(rows(10, 30))
    const lost = () => writer.lost.total
    // In addition to the rows in progress, eight more of eight characters each fit.
    await soon(() => expect([22, 30]).toContain(lost()))
    database.set('up')
    await soon(() => expect(database.numbers()).toEqual(upTo(40 - lost())))
    await writer.close()
    expect(writer.dropped).toEqual(upTo(40).slice(40 - lost()))
  })

  test('without a spool, an unreachable database is reported once until it is back', async () => {
    const database = sink()
    database.set('away')
    const writer = await open(database.write)
    writer.breakSpool()
    writer.pushAll(rows(0, 10, 'body'))
    await soon(() => expect(writer.logged.some(({ level }) => level === 50)).toBe(true))
    const told = writer.logged.length
    for (let n = 0; n < 60; n++) {
      expect(writer.away()).toBe(true)
      await sleep(5)
    }
    expect(writer.logged.length).toBe(told)
    database.set('up')
    await soon(() => expect(database.numbers()).toEqual(upTo(10)))
    await soon(() => expect(writer.away()).toBe(false))
    expect(writer.settled).toEqual(upTo(10))
    expect(writer.shed.total).toBe(10)
    await writer.close()
  })

  test('without a spool, a rejected row does not delay others', async () => {
    const kept: number[] = []
    let isAway = true
    const writer = await open(async (batch) => {
      if (isAway) throw refused()
      if (numbers(batch).includes(0)) throw Object.assign(new Error('bad'), { code: '22P02' })
      kept.push(...numbers(batch))
    })
    writer.breakSpool()
    writer.pushAll(rows(0, 3))
    await soon(() => expect(writer.logged.some(({ level }) => level === 50)).toBe(true))
    isAway = false
    await soon(() => expect(kept).toEqual([1, 2]))
    expect([writer.away(), writer.lost.total]).toEqual([false, 1])
    await writer.close()
  })

  test('closing does not wait if neither database nor spool is writable', async () => {
    const database = sink()
    database.set('away')
    const writer = await open(database.write, { drainMs: 60_000 })
    writer.breakSpool()
    writer.pushAll(rows(0, 3))
    await writer.close()
    expect(writer.dropped).toEqual(upTo(3))
  })

  test('closing writes waiting rows at once', async () => {
    const database = sink()
    const writer = await open(database.write, { gatherMs: 60_000 })
    writer.pushAll(rows(0, 3))
    await writer.close()
    expect(database.batches.map(numbers)).toEqual([[0, 1, 2]])
    await writer.close()
    writer.push(row(3))
    expect(writer.dropped).toEqual([3])
  })

  test('a killed process loses only the rows of its last second', async () => {
    const directory = mkdtempSync(join(folder, 's'))
    const module = (name: string) => JSON.stringify(join(import.meta.dir, name))
    const code = `
      import pino from 'pino'
      import { createBatchWriter } from ${module('batch-writer.ts')}
      import { usualLimits } from ${module('batch-limits.ts')}
      import { createRoom } from ${module('room.ts')}
      import { openSpool } from ${module('spool.ts')}
      import { createTally } from ${module('tally.ts')}
      import { createWriteAhead } from ${module('write-ahead.ts')}
      const log = pino({ level: 'silent' })
      const directory = ${JSON.stringify(directory)}
      const tally = (name) => createTally({ log, name, message: name })
      let slow = Bun.sleep(0)
      const writer = createBatchWriter({
        name: 'the rows',
        // Takes a first batch, and then hangs.
        write: () => slow,
        toRecord: ({ json }) => json,
        fromRecord: (json) => ({ json, payload: undefined }),
        spool: openSpool({ directory, name: 'rows', log }),
        ahead: createWriteAhead(directory, 'rows'),
        payloads: { room: createRoom(1e6), shed: tally('shed') },
        lost: tally('lost'),
        log,
        limits: { ...usualLimits, batchRows: 2, gatherMs: 1, awayMs: 60_000, writeMs: 60_000 },
      })
      writer.push({ json: '{"n":9}', payload: undefined })
      while (writer.waiting() > 0) await Bun.sleep(1)
      slow = new Promise(() => {})
      for (let n = 0; n < 5; n++) writer.push({ json: \`{"n":\${n}}\`, payload: '"p":1' })
      await Bun.sleep(1_000)
      writer.push({ json: '{"n":5}', payload: undefined })
      process.kill(process.pid, 'SIGKILL')`
    await Bun.spawn([process.execPath, '-e', code]).exited
    const database = sink()
    const next = await open(database.write, { directory })
    await soon(() => expect(database.numbers()).toEqual(upTo(5)))
    await next.close()
    expect(readdirSync(directory)).toEqual([])
  })

  test('rows are written once to a slow database, with their payloads', async () => {
    const database = sink()
    database.set('hung')
    const writer = await open(database.write, { awayMs: 60_000, writeMs: 60_000 })
    const bytes = () =>
      readdirSync(writer.directory)
        .filter((name) => name.endsWith('.log'))
        .reduce((sum, name) => sum + statSync(join(writer.directory, name)).size, 0)
    writer.pushAll(rows(0, 3, '"p":1'))
    await soon(() => expect(bytes()).toBeGreaterThan(0))
    database.set('up')
    await soon(() => expect(bytes()).toBe(0))
    await writer.close()
    expect(database.batches.flat()).toEqual(rows(0, 3, '"p":1'))
    expect(readdirSync(writer.directory)).toEqual([])
  })

  test('closing ends although a write never answers; the rows are in the spool', async () => {
    const database = sink()
    database.set('hung')
    const own = { batchRows: 2, drainMs: 30, writeMs: 60_000 }
    const writer = await open(database.write, own)
    writer.pushAll(rows(0, 5))
    await writer.close()
    expect(writer.lost.total).toBe(0)
    const next = await open(sink().write, { directory: writer.directory })
    expect(next.logged.find(({ msg }) => msg.startsWith('took over'))).toMatchObject({ records: 5 })
    await next.close()
  })
})
