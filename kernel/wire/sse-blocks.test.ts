import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createBoundary, createSseBlocks, withData } from './sse-blocks.ts'

const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
const line = fc.constantFrom('data: {"a":1}', 'data:', 'data', ': note', 'id: 7', 'event: message')
/** A block with one kind of line end. */
const block = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 4 }), lineEnd)
  .map(([lines, end]) => `${lines.join(end)}${end}${end}`)

test('blocks do not depend on chunking, and nothing is lost', () => {
  fc.assert(
    fc.property(fc.array(block, { maxLength: 6 }), fc.array(fc.nat(80)), (texts, cuts) => {
      const whole = texts.join('')
      const together = createSseBlocks().push(whole)
      const cutter = createSseBlocks()
      const places = [0, ...cuts.map((at) => at % (whole.length + 1)), whole.length]
      places.sort((a, b) => a - b)
      const apart = places.flatMap((at, i) => cutter.push(whole.slice(at, places[i + 1] ?? at)))
      expect(apart.map(({ data }) => data).filter(Boolean)).toEqual(
        together.map(({ data }) => data).filter(Boolean),
      )
      const raw = apart.map((one) => one.raw).join('')
      expect(whole.startsWith(raw)).toBe(true)
      expect(whole.length - raw.length).toBe(cutter.pending)
    }),
    { numRuns: 2_000 },
  )
})

test('a block is returned with the piece that ends it, however the text is chunked', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const text = `id: 7${end}data: 1${end}${end}`
    for (let size = 1; size <= text.length; size++) {
      const blocks = createSseBlocks()
      for (let at = 0; at < text.length; at += size) {
        const isLast = at + size >= text.length
        expect(blocks.push(text.slice(at, at + size))).toHaveLength(isLast ? 1 : 0)
        expect(blocks.pending).toBe(isLast ? 0 : at + size)
      }
    }
  }
})

test('a blank begins a value only once', () => {
  const [block] = createSseBlocks().push('data:a\ndata:  b\n\n')
  expect(block?.data).toBe('a\n b')
})

test('reads data, ids and comments', () => {
  const text = ': note\n\nid: 7\ndata: {"a":\ndata: 1}\n\nevent: x\ndata\n\n'
  expect(createSseBlocks().push(text)).toEqual([
    { raw: ': note\n\n', data: undefined, hasId: false },
    { raw: 'id: 7\ndata: {"a":\ndata: 1}\n\n', data: '{"a":\n1}', hasId: true },
    { raw: 'event: x\ndata\n\n', data: '', hasId: false },
  ])
})

test('a block keeps all but its data', () => {
  const [block] = createSseBlocks().push(
    ': note\r\nid: 7\r\ndata: 1\r\ndata: 2\r\ndata\r\nevent: x\r\n\r\n',
  )
  expect(withData(block as NonNullable<typeof block>, '3')).toBe(
    ': note\nid: 7\nevent: x\ndata: 3\n\n',
  )
})

test('knows where an event is complete, however the bytes are chunked', () => {
  const whole = ['data: 1\n\n', 'data: 2\r\n\r\n', 'data: 3\r\r', ': note\n\n']
  const ends = new Set([0])
  for (const text of whole) ends.add(([...ends].at(-1) as number) + text.length)
  const text = whole.join('')
  const boundary = createBoundary()
  for (let at = 0; at <= text.length; at++) {
    // The middle of a blank line of CRLFs looks like a blank line; a comment there does no harm.
    if (boundary.between() !== ends.has(at)) expect(text.slice(at - 3, at)).toBe('\r\n\r')
    boundary.add(new TextEncoder().encode(text[at] ?? ''))
  }
})

test.each([
  ['data: 1\n', false],
  ['data: 1\r\n', false],
  ['data: 1\r', false],
  ['\na\n', false],
  ['data: 1\n\n', true],
  ['data: 1\r\n\r\n', true],
  ['data: 1\r\r', true],
])('after %j at once, that the event is complete is %p', (text, complete) => {
  const boundary = createBoundary()
  boundary.add(new TextEncoder().encode(text))
  expect(boundary.between()).toBe(complete)
})
