import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { createTestDatabase, type TestDatabase } from '../test/harness/database.ts'
import { roundTripCounter, startWire } from './wire.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('counts round trips, and delays answers', async () => {
  const wire = startWire(database.url)
  const sql = postgres(wire.url, { max: 1, fetch_types: false })
  try {
    await sql`select ${1}::int`
    const before = wire.roundTrips
    await sql`select ${2}::int`
    expect(wire.roundTrips - before).toBe(1)
    const text = 'x'.repeat(3_000_000)
    const [row] = await sql`select length(${text}) as n, ${text} as text`
    expect(row?.n).toBe(text.length)
    expect(row?.text).toBe(text)

    wire.delay(50)
    const startedAt = performance.now()
    await sql`select ${2}::int`
    expect(performance.now() - startedAt).toBeGreaterThan(49)
  } finally {
    await sql.end({ timeout: 1 })
    wire.stop()
  }
})

test('counts the same for any split of the bytes', () => {
  const message = (type: string, length: number) => {
    const bytes = Buffer.alloc(type.length + 4 + length, 'Q')
    bytes.write(type)
    bytes.writeInt32BE(4 + length, type.length)
    return bytes
  }
  const sent = Buffer.concat([
    message('', 40),
    message('Q', 9),
    ...[message('P', 30), message('B', 11), message('E', 5), message('S', 0)],
    ...[message('B', 300), message('E', 5), message('S', 0)],
  ])
  for (let size = 1; size <= sent.length; size++) {
    const count = roundTripCounter()
    let found = 0
    for (let at = 0; at < sent.length; at += size) found += count(sent.subarray(at, at + size))
    expect(found).toBe(3)
  }
})
