import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib'
import { GatewayError, inTime } from '../plugin/index.ts'
import { OPEN_BRACE } from '../wire/json-text.ts'

export interface BodyLimits {
  readonly maxBytes: number
  /** Milliseconds for the whole body to arrive. */
  readonly timeoutMs: number
}

/**
 * Returns the whole request body as text, decompressed. Throws `request_body_too_large` if it is
 * too large before or after decompression, or `invalid_request` if it cannot be decompressed, is
 * not UTF-8, ends early or has not arrived in time.
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<string> {
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > limits.maxBytes) throw tooLarge(limits)
  const reading = declared === null ? readCounted(request, limits) : request.bytes()
  let bytes: Uint8Array
  try {
    const read = await inTime(reading, limits.timeoutMs)
    if (read === undefined) throw tooLate(limits)
    bytes = read.value
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw new GatewayError('invalid_request', 'the request body ended early', { cause: error })
  }
  const encoding = request.headers.get('content-encoding')
  return decode(encoding === null ? bytes : await unpack(bytes, encoding, limits))
}

/** Reads a body of unknown length and stops as soon as it is too large. */
async function readCounted(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  // Not `for await`, because leaving that waits for a cancellation that may never end.
  const reader = request.body.getReader()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    size += piece.value.byteLength
    if (size > limits.maxBytes) throw tooLarge(limits)
    chunks.push(piece.value)
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new GatewayError('invalid_request', 'the request body is not valid UTF-8', { cause })
  }
}

type Unpack = (packed: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>

/** Some clients send raw deflate, without the two-byte zlib header, as `deflate`. */
const inflateEither: Unpack = (packed, options) => {
  const [first = 0, second = 0] = packed
  const hasHeader = (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0
  return (promisify(hasHeader ? inflate : inflateRaw) as Unpack)(packed, options)
}

const unpackers: Readonly<Record<string, Unpack>> = {
  gzip: promisify(gunzip) as Unpack,
  'x-gzip': promisify(gunzip) as Unpack,
  deflate: inflateEither,
  br: promisify(brotliDecompress) as Unpack,
  zstd: promisify(zstdDecompress) as Unpack,
}

/** Decodes the encodings of a body, last one first; no step may exceed the limit. */
async function unpack(
  packed: Uint8Array,
  encodings: string,
  limits: BodyLimits,
): Promise<Uint8Array> {
  let bytes = packed
  const names = encodings.split(',').map((name) => name.trim().toLowerCase())
  for (const name of names.toReversed()) {
    if (name === '' || name === 'identity') continue
    const unpacker = Object.hasOwn(unpackers, name) ? unpackers[name] : undefined
    if (unpacker === undefined) {
      const message = `content-encoding: '${name.slice(0, 32)}' is not supported; use gzip, deflate, br or zstd`
      throw new GatewayError('invalid_request', message, { status: 415 })
    }
    try {
      bytes = await unpacker(bytes, { maxOutputLength: limits.maxBytes })
    } catch (cause) {
      if ((cause as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limits)
      // The header names an encoding but the body is plain: `{` begins no compressed format.
      if (bytes[0] === OPEN_BRACE) continue
      const message = `content-encoding: the request body is not valid ${name}`
      throw new GatewayError('invalid_request', message, { cause })
    }
  }
  return bytes
}

/**
 * The connection stays open, because many clients read only after they have sent everything, and
 * closing it would discard the answer. The rest of the body is dropped.
 */
function tooLarge({ maxBytes }: BodyLimits) {
  return new GatewayError(
    'request_body_too_large',
    `the request body is larger than ${maxBytes} bytes`,
  )
}

function tooLate({ timeoutMs }: BodyLimits) {
  return new GatewayError(
    'invalid_request',
    `the request body did not arrive within ${timeoutMs} ms`,
    { headers: { connection: 'close' } },
  )
}
