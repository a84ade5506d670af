import { crc32 } from 'node:zlib'
import { GatewayError } from 'model-gateway/plugin'

/** One message of AWS's binary event stream. */
export interface EventStreamFrame {
  readonly headers: ReadonlyMap<string, HeaderValue>
  readonly payload: Uint8Array
}

export type HeaderValue = boolean | number | bigint | string | Uint8Array

const PRELUDE = 12
/** Prelude and the checksum at the end. */
const OVERHEAD = 16
const LARGEST = 16 * 1024 * 1024

/**
 * The frames of a byte stream, in batches: those that one chunk completed, never an empty batch. A
 * wrong checksum is reported and otherwise ignored. Throws GatewayError `upstream_transport` for a
 * malformed frame and for an end within one.
 */
export async function* decodeEventStream(
  bytes: AsyncIterable<Uint8Array>,
  crcMismatch: () => void,
): AsyncGenerator<readonly EventStreamFrame[]> {
  const readHeaders = createHeaderReader()
  /** The chunks of an incomplete frame, and their total length. */
  let pieces: Uint8Array[] = []
  let pending = 0
  /** Bytes needed to continue: the prelude, then the whole frame. */
  let wanted = PRELUDE

  for await (const chunk of bytes) {
    pieces.push(chunk)
    pending += chunk.length
    if (pending < wanted) continue
    const data = pieces.length === 1 ? chunk : Buffer.concat(pieces, pending)
    const view = new DataView(data.buffer, data.byteOffset, data.length)
    const frames: EventStreamFrame[] = []
    let at = 0
    try {
      for (;;) {
        const left = data.length - at
        wanted = left < PRELUDE ? PRELUDE : frameLength(view, at)
        if (left < wanted) break
        frames.push(readFrame(data, view, at, wanted))
        at += wanted
      }
      pieces = at === data.length ? [] : [data.subarray(at)]
      pending = data.length - at
    } finally {
      // Yields the frames before a malformed one too, however the bytes are cut.
      if (frames.length > 0) yield frames
    }
  }
  if (pending > 0) throw malformed('the stream ended in a frame', 'premature end')

  function readFrame(data: Uint8Array, view: DataView, at: number, length: number) {
    const end = at + length - 4
    const fits =
      preludeCrc(data, at) === view.getUint32(at + 8) &&
      crc32(data.subarray(at, end)) === view.getUint32(end)
    if (!fits) crcMismatch()
    const payloadAt = at + PRELUDE + view.getUint32(at + 4)
    return {
      headers: readHeaders(data, at + PRELUDE, payloadAt),
      payload: data.subarray(payloadAt, end),
    }
  }
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

/** CRC-32 of those eight bytes; a call of the library costs more for so few. */
function preludeCrc(data: Uint8Array, at: number): number {
  let crc = -1
  for (let i = at; i < at + 8; i++) {
    crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ (data[i] as number)) & 255] as number)
  }
  return ~crc >>> 0
}

/** The frame length of a prelude, validated. */
function frameLength(view: DataView, at: number): number {
  const length = view.getUint32(at)
  const headersLength = view.getUint32(at + 4)
  if (length < OVERHEAD || length > LARGEST) throw malformed('its length is out of range')
  if (headersLength > length - OVERHEAD) throw malformed('its headers exceed its length')
  return length
}

/** Reads header blocks. Streams repeat only a few, so the last few are cached. */
function createHeaderReader() {
  const known: { bytes: Buffer; headers: ReadonlyMap<string, HeaderValue> }[] = []
  return (data: Uint8Array, from: number, to: number): ReadonlyMap<string, HeaderValue> => {
    for (const { bytes, headers } of known) {
      if (bytes.length === to - from && bytes.compare(data, from, to) === 0) return headers
    }
    const bytes = Buffer.from(data.subarray(from, to))
    const headers = readHeaders(bytes)
    if (known.length === 4) known.pop()
    known.unshift({ bytes, headers })
    return headers
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function readHeaders(bytes: Uint8Array): ReadonlyMap<string, HeaderValue> {
  const headers = new Map<string, HeaderValue>()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0

  function take(length: number): number {
    const from = at
    at += length
    if (at > bytes.length) throw malformed('a header exceeds the frame')
    return from
  }
  function takeBytes(length: number): Uint8Array {
    const from = take(length)
    return bytes.subarray(from, from + length)
  }
  function takeText(length: number): string {
    const text = takeBytes(length)
    try {
      return utf8.decode(text)
    } catch {
      throw malformed('a header is not valid UTF-8')
    }
  }
  function takeValue(type: number): HeaderValue {
    switch (type) {
      case 0:
        return true
      case 1:
        return false
      case 2:
        return view.getInt8(take(1))
      case 3:
        return view.getInt16(take(2))
      case 4:
        return view.getInt32(take(4))
      case 5:
      case 8:
        return view.getBigInt64(take(8))
      case 6:
        return takeBytes(view.getUint16(take(2)))
      case 7:
        return takeText(view.getUint16(take(2)))
      case 9:
        return takeBytes(16)
      default:
        throw malformed('a header has an unknown type')
    }
  }

  while (at < bytes.length) {
    const nameLength = view.getUint8(take(1))
    if (nameLength === 0) throw malformed('a header has no name')
    const name = takeText(nameLength)
    headers.set(name, takeValue(view.getUint8(take(1))))
  }
  return headers
}

function malformed(what: string, kind = 'malformed frame'): GatewayError {
  return new GatewayError('upstream_transport', `${kind}: ${what}`)
}
