import { expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { halfOfLast, readAmount } from './amounts.ts'
import { csvRows } from './csv-rows.ts'
import { jsonBuckets } from './json-pages.ts'

async function* inPieces(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

test('CSV rows do not depend on chunk boundaries', async () => {
  const text = 'a,b,c\r\n1,"two, ""2""",3\n"line\nbreak",,"x"\n"","é",last'
  const expected = [
    ['a', 'b', 'c'],
    ['1', 'two, "2"', '3'],
    ['line\nbreak', '', 'x'],
    ['', 'é', 'last'],
  ]
  for (let size = 1; size <= text.length; size++) {
    const rows: (readonly string[])[] = []
    for await (const some of csvRows(inPieces(text, size))) rows.push(...some)
    expect([size, rows]).toEqual([size, expected])
  }
})

test('an unclosed quote ends the reading before memory is exhausted', async () => {
  async function* endless() {
    yield 'a,b\n"'
    for (;;) yield 'x'.repeat(1024 * 1024)
  }
  const read = async () => {
    for await (const _ of csvRows(endless()));
  }
  await expect(read()).rejects.toThrow('a row is longer than 8 MB')
})

test('buckets of JSON pages do not depend on chunk boundaries, and numbers stay text', async () => {
  const text = `{"object": "page", "data": [{"a": 0.10000000000000000555, "results": [{"s": "}]\\"{"}]},
    {"data": [1], "results": []}], "has_more": true}
    {"data" : [ {"b": 12345678901234567890} ], "has_more": false}`
  for (let size = 1; size <= text.length; size++) {
    const buckets: JsonObject[] = []
    const pages: JsonObject[] = []
    for await (const some of jsonBuckets(inPieces(text, size), (page) => pages.push(page))) {
      buckets.push(...some)
    }
    expect(buckets).toEqual([
      { a: '0.10000000000000000555', results: [{ s: '}]"{' }] },
      { data: ['1'], results: [] },
      { b: '12345678901234567890' },
    ])
    expect(pages.map(({ has_more }) => has_more)).toEqual([true, false])
  }
})

test('decimals are read exactly, in any form', () => {
  const scaled = (text: string) => readAmount(text)?.scaled
  expect(scaled('0.1')).toBe(100_000_000_000n)
  expect(scaled('-$1,234.50')).toBe(-1_234_500_000_000_000n)
  expect(scaled('6.123E-7')).toBe(612_300n)
  expect(scaled('1.3e1')).toBe(13_000_000_000_000n)
  expect(scaled('.5')).toBe(500_000_000_000n)
  expect(scaled('0.00014400000000000003')).toBe(144_000_000n)
  expect(readAmount('0.00014400000000000003')).toMatchObject({ places: 20, cut: true })
  expect(readAmount('0.8958740000000000')).toMatchObject({ places: 16, cut: false })
  for (const text of ['', '1,5', '1.2.3', 'NaN', '1e9999', '--1', '0x10', '1 000']) {
    expect([text, scaled(text)]).toEqual([text, undefined])
  }
  // The rounding error of whole cents.
  expect(halfOfLast(2)).toBe(5_000_000_000n)
  expect(halfOfLast(12)).toBe(0n)
})
