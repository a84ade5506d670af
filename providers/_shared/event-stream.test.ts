import { describe, expect, test } from 'bun:test'
import { crc32 } from 'node:zlib'
import { EventStreamCodec, type MessageHeaderValue } from '@smithy/eventstream-codec'
import fc from 'fast-check'
import { GatewayError } from 'model-gateway/plugin'
import vectors from './__fixtures__/aws/event-stream.json'
import { decodeEventStream, type EventStreamFrame, type HeaderValue } from './event-stream.ts'

/** The vendor's encoder, which shares nothing with the decoder here. */
const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
)

async function decode(chunks: Iterable<Uint8Array>) {
  const frames: EventStreamFrame[] = []
  let mismatches = 0
  async function* source() {
    yield* chunks
  }
  for await (const batch of decodeEventStream(source(), () => mismatches++)) {
    expect(batch).not.toBeEmpty()
    frames.push(...batch)
  }
  return { frames, mismatches }
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...[...at].sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((to, index) => bytes.subarray(places[index], to))
}

/** A header in the vendor's representation, as this decoder returns it. */
function plain({ type, value }: MessageHeaderValue): HeaderValue {
  switch (type) {
    case 'timestamp':
      return BigInt(value.getTime())
    case 'long':
      return Buffer.from(value.bytes).readBigInt64BE()
    case 'uuid':
      return Uint8Array.from(Buffer.from(value.replaceAll('-', ''), 'hex'))
    case 'binary':
      return Uint8Array.from(value)
    default:
      return value
  }
}

const comparable = (frame: EventStreamFrame) => ({
  headers: [...frame.headers].map(([name, value]) => [
    name,
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  ]),
  payload: Buffer.from(frame.payload).toString('hex'),
})

describe('public vectors', () => {
  test.each(vectors.positive.map(({ name, encoded }) => [name, Buffer.from(encoded, 'base64')]))(
    '%s decodes as the vendor decodes it',
    async (_, encoded) => {
      const theirs = codec.decode(encoded as Buffer)
      const { frames, mismatches } = await decode([encoded as Buffer])
      expect(mismatches).toBe(0)
      expect(frames.map(comparable)).toEqual([
        comparable({
          headers: new Map(
            Object.entries(theirs.headers).map(([name, value]) => [name, plain(value)]),
          ),
          payload: theirs.body,
        }),
      ])
    },
  )

  test.each(['corrupted_headers', 'corrupted_payload'])(
    '%s is structurally sound: it decodes, and its checksum is reported',
    async (name) => {
      const encoded = vectors.negative.find((v) => v.name === name)?.encoded ?? ''
      const { frames, mismatches } = await decode([Buffer.from(encoded, 'base64')])
      expect([frames.length, mismatches]).toEqual([1, 1])
    },
  )

  test.each(['corrupted_header_len', 'corrupted_length'])('%s is refused', async (name) => {
    const encoded = vectors.negative.find((v) => v.name === name)?.encoded ?? ''
    const error = await decode([Buffer.from(encoded, 'base64')]).catch((reason) => reason)
    expect(error).toBeInstanceOf(GatewayError)
    expect(error.code).toBe('upstream_transport')
  })
})

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const header = fc.oneof(
  fc.boolean().map((value) => ({ type: 'boolean' as const, value })),
  fc.integer({ min: -128, max: 127 }).map((value) => ({ type: 'byte' as const, value })),
  fc.integer({ min: -32768, max: 32767 }).map((value) => ({ type: 'short' as const, value })),
  fc.integer().map((value) => ({ type: 'integer' as const, value })),
  text.map((value) => ({ type: 'string' as const, value })),
  fc.uint8Array({ maxLength: 30 }).map((value) => ({ type: 'binary' as const, value })),
  fc
    .integer({ min: 0, max: 2 ** 45 })
    .map((ms) => ({ type: 'timestamp' as const, value: new Date(ms) })),
  fc.uuid().map((value) => ({ type: 'uuid' as const, value })),
)
const message = fc.record({
  headers: fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), header, { maxKeys: 5 }),
  body: fc.uint8Array({ maxLength: 200 }),
})

test('decodes the vendor’s encoding, however the bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      async (messages, places) => {
        const all = Buffer.concat(messages.map((m) => codec.encode(m)))
        const at = places.map((place) => place % (all.length + 1))
        const { frames, mismatches } = await decode(cut(all, at))
        expect(mismatches).toBe(0)
        expect(frames.map(comparable)).toEqual(
          messages.map(({ headers, body }) =>
            comparable({
              headers: new Map(
                Object.entries(headers).map(([name, value]) => [name, plain(value)]),
              ),
              payload: body,
            }),
          ),
        )
      },
    ),
    { numRuns: 300 },
  )
})

describe('damage', () => {
  const one = codec.encode({
    headers: { ':event-type': { type: 'string', value: 'größe' } },
    body: Buffer.from('{"a":1}'),
  })
  const changed = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(one)
    change(bytes)
    return bytes
  }

  test('a truncated frame is an error, after the frames before it', async () => {
    for (let length = 1; length < one.length; length++) {
      const seen: EventStreamFrame[] = []
      async function* source() {
        yield Buffer.concat([one, one.subarray(0, length)])
      }
      const read = async () => {
        for await (const batch of decodeEventStream(source(), () => {})) seen.push(...batch)
      }
      await expect(read()).rejects.toThrow('premature end')
      expect(seen).toHaveLength(1)
    }
  })

  test('zero checksums are reported once per frame, and ignored', async () => {
    const zeros = changed((bytes) => {
      bytes.writeUInt32BE(0, 8)
      bytes.writeUInt32BE(0, bytes.length - 4)
    })
    const { frames, mismatches } = await decode([Buffer.concat([zeros, one, zeros])])
    expect([frames.length, mismatches]).toEqual([3, 2])
  })

  test('each wrong checksum is reported', async () => {
    const prelude = changed((bytes) => {
      bytes.writeUInt32BE((bytes.readUInt32BE(8) ^ 1) >>> 0, 8)
      bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4)
    })
    const message = changed((bytes) => {
      const at = bytes.length - 4
      bytes.writeUInt32BE((bytes.readUInt32BE(at) ^ 1) >>> 0, at)
    })
    for (const damaged of [prelude, message]) {
      const { frames, mismatches } = await decode([one, damaged])
      expect([frames.length, mismatches]).toEqual([2, 1])
    }
  })

  test.each([
    ['shorter than a frame', (b: Buffer) => b.writeUInt32BE(15, 0), 'out of range'],
    ['over 16 MiB', (b: Buffer) => b.writeUInt32BE(16 * 1024 * 1024 + 1, 0), 'out of range'],
    [
      'headers beyond the end',
      (b: Buffer) => b.writeUInt32BE(b.length - 15, 4),
      'exceed its length',
    ],
    ['no header name', (b: Buffer) => b.writeUInt8(0, 12), 'no name'],
    ['a name beyond the headers', (b: Buffer) => b.writeUInt8(200, 12), 'exceeds the frame'],
    ['an unknown header type', (b: Buffer) => b.writeUInt8(10, 24), 'unknown type'],
    ['a value beyond the headers', (b: Buffer) => b.writeUInt16BE(99, 25), 'exceeds the frame'],
    ['a name that is not UTF-8', (b: Buffer) => b.writeUInt8(0xff, 13), 'not valid UTF-8'],
    ['a text that is not UTF-8', (b: Buffer) => b.writeUInt8(0xff, 28), 'not valid UTF-8'],
  ])('%s', async (_, damage, message) => {
    await expect(decode([changed(damage)])).rejects.toThrow(message)
  })

  test('frames before a malformed one are delivered, also in the same chunk', async () => {
    const seen: EventStreamFrame[] = []
    async function* source() {
      yield Buffer.concat([one, one, changed((bytes) => bytes.writeUInt8(0, 12))])
    }
    const read = async () => {
      for await (const batch of decodeEventStream(source(), () => {})) seen.push(...batch)
    }
    await expect(read()).rejects.toThrow('no name')
    expect(seen).toHaveLength(2)
  })

  test('an excessive length is refused at once', async () => {
    async function* source() {
      yield Buffer.from('HTTP/1.1 200 OK')
      throw new Error('read on')
    }
    const read = async () => {
      for await (const _ of decodeEventStream(source(), () => {}));
    }
    await expect(read()).rejects.toThrow('malformed frame')
  })
})
