import { afterEach, describe, expect, jest, spyOn, test } from 'bun:test'
import { connect } from 'node:net'
import fc from 'fast-check'
import { GatewayError } from 'model-gateway/plugin'
import {
  type Ending,
  type PassOn,
  passOn,
  readBeginning,
  readWhole,
  type Source,
} from './stream.ts'

const limits = { keepAliveMs: 40, idleMs: 400 }
const bytes = (text: string) => new TextEncoder().encode(text)

/** A stream that the test feeds, and its outcome. */
function open(options: Partial<PassOn> = {}) {
  let source!: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      source = controller
    },
  })
  const caller = new AbortController()
  const upstream = new AbortController()
  const endings: Ending[] = []
  const { stream, end } = passOn(body.getReader(), {
    limits,
    whenLeft: (listener) => caller.signal.addEventListener('abort', listener),
    upstream,
    events: true,
    pass: (piece) => piece,
    over: (ending) => endings.push(ending),
    ...options,
  })
  return { source, caller, upstream, endings, end, reader: stream.getReader() }
}

interface Reader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
}

async function readAll(reader: Reader): Promise<string> {
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text
    text += new TextDecoder().decode(value)
  }
}

/** All bytes that a server on this port sends until its connection ends in any way. */
function rawReply(port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'),
    )
    socket.on('data', (data) => {
      text += data
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
}

describe('a stream', () => {
  test('comes as it is, and ends when its server ends it', async () => {
    const { source, reader, endings, upstream } = open()
    source.enqueue(bytes('data: 1\n\n'))
    source.close()
    expect(await readAll(reader)).toBe('data: 1\n\n')
    expect(endings).toEqual(['ended'])
    expect(upstream.signal.aborted).toBe(false)
  })

  test('in silence has comments, but only between its events', async () => {
    const { source, reader } = open()
    const all = readAll(reader)
    source.enqueue(bytes('data: {"a":'))
    await Bun.sleep(130)
    source.enqueue(bytes('1}\n\n'))
    await Bun.sleep(130)
    source.enqueue(bytes('data: 2\r\n\r\n'))
    await Bun.sleep(60)
    source.close()
    const text = await all
    const comment = ': keep-alive\n\n'
    expect(text.replaceAll(comment, '')).toBe('data: {"a":1}\n\ndata: 2\r\n\r\n')
    expect(text).toStartWith(`data: {"a":1}\n\n${comment}`)
    expect(text).toEndWith(comment)
  })

  test('that begins in silence begins with an empty line, long before a comment', async () => {
    const { source, reader } = open({ limits: { keepAliveMs: 60_000, idleMs: 60_000 } })
    const all = readAll(reader)
    await Bun.sleep(400)
    source.enqueue(bytes('data: 1\n\n'))
    await Bun.sleep(400)
    source.close()
    expect(await all).toBe('\ndata: 1\n\n')
  })

  test('that is not an event stream has no comments', async () => {
    const { source, reader } = open({ events: false })
    const all = readAll(reader)
    source.enqueue(bytes('{'))
    await Bun.sleep(120)
    source.enqueue(bytes('}'))
    source.close()
    expect(await all).toBe('{}')
  })

  test('that says nothing for too long ends, here and there', async () => {
    const { source, reader, endings, upstream } = open()
    source.enqueue(bytes('data: 1\n\n'))
    expect(await readAll(reader)).toContain('data: 1')
    expect(endings).toEqual(['idle'])
    expect(upstream.signal.aborted).toBe(true)
  })

  test('whose caller takes nothing for too long has lost its caller, not its server', async () => {
    const { source, reader, endings } = open()
    source.enqueue(bytes('data: 1\n\n'))
    source.enqueue(bytes('data: 2\n\n'))
    await reader.read()
    while (endings.length === 0) await Bun.sleep(10)
    expect(endings).toEqual(['left'])
  })

  test('that may not go on ends', async () => {
    let may = true
    const { source, reader, endings, upstream } = open({ mayGoOn: async () => may })
    source.enqueue(bytes('data: 1\n\n'))
    const all = readAll(reader)
    await Bun.sleep(100)
    expect(endings).toEqual([])
    may = false
    expect(await all).toStartWith('data: 1\n\n: keep-alive')
    expect(endings).toEqual(['left'])
    expect(upstream.signal.aborted).toBe(true)
  })

  test('that breaks breaks for its reader, too', async () => {
    const { source, reader, endings } = open()
    source.enqueue(bytes('data: 1\n\n'))
    await reader.read()
    source.error(new Error('reset'))
    await expect(reader.read()).rejects.toThrow('reset')
    expect(endings).toEqual(['broken'])
  })

  test('that breaks behind a piece has brought that piece', async () => {
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      development: false,
      fetch() {
        const pieces = [bytes('data: 1\n\n')]
        const { stream } = passOn(
          {
            read: async () => {
              if (pieces.length === 0) throw new Error('reset')
              return { value: pieces.pop() }
            },
            cancel: async () => {},
          },
          {
            limits,
            whenLeft() {},
            upstream: new AbortController(),
            events: true,
            pass: (piece) => piece,
            over() {},
          },
        )
        return new Response(stream)
      },
    })
    try {
      for (let i = 0; i < 20; i++) {
        expect(await rawReply(server.port as number)).toContain('data: 1\n\n')
      }
    } finally {
      await server.stop(true)
    }
  })

  test('of which a piece may not pass breaks', async () => {
    const { source, reader, endings, upstream } = open({
      pass: () => Promise.reject(new GatewayError('guardrail_denied', 'no')),
    })
    source.enqueue(bytes('data: 1\n\n'))
    await expect(reader.read()).rejects.toThrow('no')
    expect(endings).toEqual(['broken'])
    expect(upstream.signal.aborted).toBe(true)
  })

  test.each([
    ['leaves', (one: ReturnType<typeof open>) => one.caller.abort()],
    ['does not read on', (one: ReturnType<typeof open>) => one.reader.cancel()],
    ['is sent away', (one: ReturnType<typeof open>) => one.end()],
  ])('ends at once when its caller %s', async (_, leave) => {
    const one = open()
    one.source.enqueue(bytes('data: 1\n\n'))
    await one.reader.read()
    await leave(one)
    expect(one.endings).toEqual(['left'])
    expect(one.upstream.signal.aborted).toBe(true)
  })
})

describe('the beginning of a body', () => {
  /** A body whose pieces arrive after the given number of event loop turns. */
  function coming(pieces: readonly (readonly [string, number])[], breaks = false) {
    return new ReadableStream<Uint8Array>({
      async start(controller) {
        for (const [text, turns] of pieces) {
          for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve))
          controller.enqueue(bytes(text))
        }
        if (breaks) controller.error(new Error('broken'))
        else controller.close()
      },
    })
  }

  const begin = (body: ReadableStream<Uint8Array>, maxBytes: number) =>
    readBeginning(body, maxBytes, new AbortController())

  async function readRest(source: Source): Promise<string> {
    let text = ''
    for (;;) {
      const { value } = await source.read()
      if (value === undefined) return text
      text += Buffer.from(value).toString('latin1')
    }
  }

  test('is all of it when it is over by the next turn', async () => {
    expect(await begin(coming([['data: 1\n\n', 0]]), 100)).toEqual({
      whole: Buffer.from('data: 1\n\n'),
    })
    expect(await begin(coming([]), 100)).toEqual({ whole: Buffer.alloc(0) })
  })

  test('is waited for no longer', async () => {
    const silent = await begin(new ReadableStream<Uint8Array>({}), 100)
    expect(silent).toHaveProperty('rest')
  })

  test('is no longer than it may be, and a piece', async () => {
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled++
          controller.enqueue(bytes('x'.repeat(10)))
        },
      },
      { highWaterMark: 0 },
    )
    expect(await begin(endless, 30)).toHaveProperty('rest')
    expect(pulled).toBe(5)
  })

  test('fails with a body that breaks before there is anything of it', async () => {
    await expect(begin(coming([], true), 100)).rejects.toMatchObject({ code: 'upstream_transport' })
  })

  test('and what follows it are the body, however it comes', async () => {
    const pieces = fc.array(
      fc.tuple(fc.string({ unit: 'grapheme-ascii', minLength: 1 }), fc.nat(2)),
      { maxLength: 8 },
    )
    const shapes = { whole: 0, rest: 0 }
    await fc.assert(
      fc.asyncProperty(pieces, fc.boolean(), fc.nat(40), async (sent, breaks, most) => {
        const begun = await begin(coming(sent, breaks), most).catch(() => undefined)
        const all = sent.map(([text]) => text).join('')
        if (begun === undefined) return expect(breaks).toBe(true)
        if ('whole' in begun) {
          shapes.whole++
          expect([Buffer.from(begun.whole).toString('latin1'), breaks]).toEqual([all, false])
          return
        }
        shapes.rest++
        const read: Promise<unknown> = readRest(begun.rest)
        expect(await read.catch(({ message }) => message)).toBe(breaks ? 'broken' : all)
      }),
      { numRuns: 500 },
    )
    expect(Math.min(shapes.whole, shapes.rest)).toBeGreaterThan(20)
  })
})

describe('a whole body', () => {
  const tooLarge = () => new GatewayError('upstream_transport', 'too large')
  const read = (body: ReadableStream<Uint8Array>) => {
    const upstream = new AbortController()
    // As `fetch` does with the body of an aborted call.
    const reader = body.getReader()
    const bound = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { promise, reject } = Promise.withResolvers<never>()
        upstream.signal.addEventListener('abort', () => reject(new Error('aborted')))
        const { done, value } = await Promise.race([reader.read(), promise])
        if (done) controller.close()
        else controller.enqueue(value)
      },
    })
    return readWhole(bound, { maxBytes: 10, idleMs: 50, upstream, tooLarge })
  }

  test('is read up to its limit', async () => {
    const text = (size: number) => new Response('x'.repeat(size)).body as ReadableStream<Uint8Array>
    expect((await read(text(10))).byteLength).toBe(10)
    await expect(read(text(11))).rejects.toThrow('too large')
  })

  test('is given up when it falls silent', async () => {
    await expect(read(new ReadableStream({}))).rejects.toMatchObject({ code: 'upstream_timeout' })
  })
})

afterEach(() => {
  jest.useRealTimers()
})

test('a whole body may take longer than its longest silence', async () => {
  // The clock stops while timers run, so that every check sees a recent event.
  jest.useFakeTimers({ now: 0 })
  const clock = spyOn(performance, 'now').mockReturnValue(1_000)
  const upstream = new AbortController()
  let source!: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      source = controller
    },
  })
  const tooLarge = () => new GatewayError('upstream_transport', 'too large')
  const read = readWhole(body, { maxBytes: 10, idleMs: 50, upstream, tooLarge })
  for (const piece of ['a', 'b']) {
    source.enqueue(bytes(piece))
    jest.advanceTimersByTime(60)
  }
  source.close()
  expect(upstream.signal.aborted).toBe(false)
  expect(new TextDecoder().decode(await read)).toBe('ab')
  clock.mockReturnValue(9_000)
  jest.advanceTimersByTime(60)
  clock.mockRestore()
  expect(upstream.signal.aborted).toBe(false)
})
