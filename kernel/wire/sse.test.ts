import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../plugin/errors.ts'
import { decodeSse, encodeSse } from './sse.ts'

const utf8 = new TextEncoder()

async function* pieces(bytes: Uint8Array, cuts: readonly number[]) {
  let at = 0
  for (const cut of [...cuts, bytes.length].sort((a, b) => a - b)) {
    yield bytes.subarray(at, cut)
    at = cut
  }
}

async function decode(text: string | Uint8Array, cuts: readonly number[] = []) {
  const bytes = typeof text === 'string' ? utf8.encode(text) : text
  const events: { event: string | undefined; data: string }[] = []
  let raw = ''
  for await (const batch of decodeSse(pieces(bytes, cuts))) {
    expect(batch.length).toBeGreaterThan(0)
    for (const event of batch) {
      events.push({ event: event.event, data: event.data })
      raw += event.raw ?? encodeSse(event.data, event.event)
    }
  }
  return { events, raw }
}

async function refusal(text: string | Uint8Array): Promise<string> {
  try {
    await decode(text)
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'upstream_transport') return error.message
    throw error
  }
  return 'accepted'
}

describe('reading server-sent events', () => {
  test.each([
    ['data: a\n\n', [{ data: 'a' }]],
    ['data:a\n\n', [{ data: 'a' }]],
    ['data:  a\n\n', [{ data: ' a' }]],
    ['event: x\ndata: a\n\n', [{ event: 'x', data: 'a' }]],
    ['data: a\nevent: x\nid: 7\nretry: 3\n\n', [{ event: 'x', data: 'a' }]],
    ['data: a\ndata: b\n\n', [{ data: 'a\nb' }]],
    ['data: a\r\n\r\ndata: b\r\rdata: c\n\n', [{ data: 'a' }, { data: 'b' }, { data: 'c' }]],
    [': keep-alive\n\ndata: a\n\n', [{ data: 'a' }]],
    ['data:\n\nevent: x\n\ndata: a\n\n', [{ data: 'a' }]],
    ['event:x\ndata:a\n\n', [{ event: 'x', data: 'a' }]],
    ['data: a\rdata: b\r\r', [{ data: 'a\nb' }]],
    ['data: a\n\n\r\rdata: b\r\r', [{ data: 'a' }, { data: 'b' }]],
    ['data: a\r\n\r', [{ data: 'a' }]],
    ['data:  \n\ndata: a\n\n \n', [{ data: 'a' }]],
    ['data: [DONE]', [{ data: '[DONE]' }]],
    ['event: x\ndata: [DONE] \n', [{ event: 'x', data: '[DONE] ' }]],
    ['\ufeffdata: a\n\n', [{ data: 'a' }]],
    ['data: a\n\n: keep-al', [{ data: 'a' }]],
    ['data: a\n\n: one\n: two\nretry: 3\r\nid: 7', [{ data: 'a' }]],
    ['', []],
    ['\n\n\n', []],
  ])('%j', async (text, expected) => {
    const { events } = await decode(text)
    expect(events).toEqual(expected.map((e) => ({ event: undefined, ...e })))
  })

  test.each([
    ['data: a', 'premature end'],
    ['data: a\n\ndata: b\n', 'premature end'],
    ['x', 'premature end'],
    [new Uint8Array([0x64, 0xff]), 'invalid UTF-8'],
    [new Uint8Array([...utf8.encode('data: '), 0xe2, 0x82]), 'invalid UTF-8'],
  ])('%j is refused', async (text, kind) => {
    expect(await refusal(text)).toContain(kind)
  })

  test.each([
    ['data: b', 'premature end'],
    [': comment\nevent: x', 'premature end'],
    [Uint8Array.of(0x64, 0xff), 'invalid UTF-8'],
    [Uint8Array.of(0x64, 0xe2, 0x82), 'invalid UTF-8'],
  ])('returns events before a fault, however the bytes are chunked: %j', async (rest, kind) => {
    const bytes = Buffer.concat([utf8.encode('data: a\r\n\r\n'), Buffer.from(rest as string)])
    for (const cuts of [[], bytes.keys().toArray()]) {
      const told: string[] = []
      const read = async () => {
        for await (const batch of decodeSse(pieces(bytes, cuts)))
          told.push(...batch.map(({ data }) => data))
      }
      await expect(read()).rejects.toThrow(kind)
      expect(told).toEqual(['a'])
    }
  })

  test('an event that never ends is refused at its limit', async () => {
    async function* endless() {
      yield utf8.encode('data: ')
      for (let i = 0; i < 40; i++) yield new Uint8Array(1024 * 1024).fill(65)
    }
    const read = async () => {
      for await (const _ of decodeSse(endless()));
    }
    await expect(read()).rejects.toThrow('16 MiB')
  })

  test('an event is returned with the chunk that ends it, however its bytes are chunked', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const event = utf8.encode(`data: abc${end}${end}`)
      for (let size = 1; size <= event.length; size++) {
        let sent = 0
        async function* source() {
          for (let at = 0; at < event.length; at += size) {
            sent++
            yield event.subarray(at, at + size)
          }
          sent++
        }
        await decodeSse(source()).next()
        expect(sent).toBe(Math.ceil(event.length / size))
      }
    }
  })

  test('a stream that is refused is cancelled', async () => {
    let cancelled = 0
    const events = decodeSse({
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: new Uint8Array([0xff]) }),
        async return() {
          cancelled++
          throw new Error('it is broken')
        },
      }),
    })
    await expect(events.next()).rejects.toThrow('invalid UTF-8')
    expect(cancelled).toBe(1)
    await events.return?.()
    expect(cancelled).toBe(1)
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  test('returning early cancels the source', async () => {
    let cancelled = false
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(utf8.encode('data: a\n\n')),
      cancel() {
        cancelled = true
      },
    })
    for await (const _ of decodeSse(source)) break
    expect(cancelled).toBe(true)
  })

  test('chunking does not matter, and unchanged events are sent byte for byte', async () => {
    const letters = fc.constantFrom(...'ab :"{}[],1', 'ä', '€', '🎈')
    const text = fc
      .array(letters, { minLength: 1, maxLength: 12 })
      .map((list) => list.join(''))
      .filter((t) => t.trim() !== '')
    const event = fc.record({
      data: fc.array(text, { minLength: 1, maxLength: 3 }),
      name: fc.option(fc.constantFrom('a', 'response.created'), { nil: undefined }),
      end: fc.constantFrom('\n', '\r\n'),
    })
    const stream = fc.array(event, { maxLength: 6 }).map((events) =>
      events
        .map(({ data, name, end }) => {
          const lines = data.map((line) => `data: ${line}`)
          return [...(name === undefined ? [] : [`event: ${name}`]), ...lines, '', ''].join(end)
        })
        .join(''),
    )
    await fc.assert(
      fc.asyncProperty(stream, fc.array(fc.nat(400)), async (body, cuts) => {
        const bytes = utf8.encode(body)
        const whole = await decode(bytes)
        const cut = await decode(
          bytes,
          cuts.filter((at) => at < bytes.length),
        )
        expect(cut).toEqual(whole)
        expect(whole.raw).toBe(body)
      }),
      { numRuns: 500 },
    )
  })

  test('every byte boundary of a stream with every line end', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const body = utf8.encode(['event: é', 'data: {"a":"€"}', '', 'data: 🎈', '', ''].join(end))
      const whole = await decode(body)
      for (let at = 1; at < body.length; at++) expect(await decode(body, [at])).toEqual(whole)
      const each = Array.from({ length: body.length }, (_, at) => at)
      expect(await decode(body, each)).toEqual(whole)
    }
  })

  test('no bytes crash it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        expect(await refusal(bytes)).toBeString()
      }),
      { numRuns: 1000 },
    )
  })
})

test('every line of the data is a line of the event, which has a name where it is given', () => {
  expect(encodeSse('a\nb\r\nc\rd', 'x')).toBe('event: x\ndata: a\ndata: b\ndata: c\ndata: d\n\n')
  expect(encodeSse('a')).toBe('data: a\n\n')
})

test('decodes what it encodes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ minLength: 1 }).filter((data) => data.trim() !== ''),
      async (data) => {
        const { events } = await decode(encodeSse(data, 'name'))
        expect(events).toEqual([{ event: 'name', data: data.replace(/\r\n|\r/g, '\n') }])
      },
    ),
  )
})
