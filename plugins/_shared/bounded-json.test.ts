import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonValue } from 'model-gateway/plugin'
import { type BoundedOptions, encodeBounded } from './bounded-json.ts'

function bounded(body: JsonValue, maxBytes: number, options?: BoundedOptions) {
  const steps = encodeBounded({ body }, undefined, maxBytes, options)
  if ('json' in steps) return steps
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

test('a preview is JSON within its limit, at each possible cut', () => {
  const pieces = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\\\\\\', '"', '😀😀', 'ß"\\', '\n\0', '海'),
  )
  fc.assert(
    fc.property(fc.array(pieces), fc.integer({ min: 60, max: 300 }), (texts, limit) => {
      const { json } = bounded(texts.join(''), limit)
      expect(Buffer.byteLength(json)).toBeLessThanOrEqual(limit)
      expect(json.isWellFormed()).toBe(true)
      JSON.parse(json)
    }),
    { numRuns: 2000 },
  )
})

test('a preview is as long as possible', () => {
  for (const unit of ['x', 'ß', '海', '😀', '"', '\\']) {
    const { json } = bounded(unit.repeat(1000), 300)
    expect(Buffer.byteLength(json)).toBeGreaterThan(290)
  }
})

test('uses a known size or measures it, unless the value fits', () => {
  const size = (options?: BoundedOptions) =>
    JSON.parse(bounded('x'.repeat(500), 100, options).json).size_bytes
  expect(size({ sizeOf: () => 7 })).toBe(7)
  expect(size({ sizeOf: () => undefined })).toBe(511)
  expect(size()).toBe(511)
  const fits = bounded('x', 100, {
    sizeOf: () => {
      throw new Error('must not be called')
    },
  })
  expect(fits).toEqual({ json: '{"body":"x"}', truncated: false })
})
