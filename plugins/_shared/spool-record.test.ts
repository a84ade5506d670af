import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeRecords, encodeRecords } from './spool-record.ts'

const someRecords = fc.array(fc.string({ unit: 'binary', maxLength: 30 }), { maxLength: 8 })

test('reads all complete records before a cut at any byte', () => {
  fc.assert(
    fc.property(someRecords, (records) => {
      const encoded = records.map((record) => encodeRecords([record.toWellFormed()]))
      const file = Buffer.concat(encoded)
      for (let cut = 0; cut <= file.length; cut++) {
        let whole = 0
        for (let size = 0; whole < encoded.length; whole++) {
          size += encoded[whole]?.length ?? 0
          if (size > cut) break
        }
        const read = decodeRecords(file.subarray(0, cut), true)
        expect(read.records).toEqual(records.slice(0, whole).map((r) => r.toWellFormed()))
      }
    }),
    { numRuns: 50 },
  )
})

test('a flipped byte costs at most the record that it is in, and is never taken for content', () => {
  const lines = fc.array(
    fc.string({ maxLength: 30 }).filter((text) => !text.includes('\n')),
    { minLength: 1, maxLength: 6 },
  )
  fc.assert(
    fc.property(lines, fc.integer({ min: 1, max: 255 }), (records, flip) => {
      const encoded = records.map((record) => encodeRecords([record]))
      const file = Buffer.concat(encoded)
      const hit = encoded.flatMap((bytes, n) => Array.from(bytes, () => n))
      for (let at = 0; at < file.length; at++) {
        const damaged = Buffer.from(file)
        damaged[at] = (file[at] ?? 0) ^ flip
        const read = decodeRecords(damaged, true).records
        const without = records.filter((_, n) => n !== hit[at])
        expect([records, without]).toContainEqual([...read])
      }
    }),
    { numRuns: 50 },
  )
})

test('the records do not depend on the pieces in which a file is read', () => {
  fc.assert(
    fc.property(someRecords, fc.array(fc.nat({ max: 40 })), (records, sizes) => {
      const wellFormed = records.map((record) => record.toWellFormed())
      const file = encodeRecords(wellFormed)
      const read: string[] = []
      let rest: Buffer = Buffer.alloc(0)
      let at = 0
      for (const size of [...sizes, file.length]) {
        const piece = Buffer.concat([rest, file.subarray(at, at + size)])
        at += size
        const decoded = decodeRecords(piece, at >= file.length)
        read.push(...decoded.records)
        rest = decoded.rest
        if (at >= file.length) break
      }
      expect(read).toEqual(wellFormed)
    }),
  )
})
