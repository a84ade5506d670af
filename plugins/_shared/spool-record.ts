/** Eight hexadecimal digits of length, eight of checksum. */
const HEADER_BYTES = 16
const LENGTH_BYTES = 8
const NEWLINE = 10

/** Maximum record size; a greater length in a file is damage. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024

/**
 * Encodes records as in a file: length, checksum of length and content, content, newline. Written
 * to the start of a buffer of `room` bytes. Throws RangeError for a record above 16 MiB.
 */
export function encodeRecords(
  records: readonly string[],
  room: (bytes: number) => Buffer = Buffer.allocUnsafe,
): Buffer {
  const sizes = records.map((record) => Buffer.byteLength(record))
  const bytes = room(sizes.reduce((sum, size) => sum + HEADER_BYTES + size + 1, 0))
  let at = 0
  records.forEach((record, n) => {
    const size = sizes[n] as number
    if (size > MAX_RECORD_BYTES) throw new RangeError('a spool record is larger than 16 MiB')
    const content = at + HEADER_BYTES
    const end = content + size
    // The length is written where the checksum goes, next to the content that it is summed with.
    writeHex(bytes, at + LENGTH_BYTES, size)
    bytes.write(record, content)
    const sum = Bun.hash.crc32(bytes.subarray(at + LENGTH_BYTES, end))
    writeHex(bytes, at, size)
    writeHex(bytes, at + LENGTH_BYTES, sum)
    bytes[end] = NEWLINE
    at = end + 1
  })
  return bytes.subarray(0, at)
}

export interface Decoded {
  readonly records: readonly string[]
  /** Ranges of bytes that are not a record, before a record or a line end. */
  readonly damaged: number
  /** The last bytes, which may become a record when more follow. */
  readonly rest: Buffer
}

/**
 * The records of a part of a file that begins at a record. After damage it continues at the next
 * line, so that one flipped byte costs one record. At the end of the file, `rest` is an incomplete
 * write.
 */
export function decodeRecords(bytes: Buffer, atEnd: boolean): Decoded {
  const records: string[] = []
  let damaged = 0
  let at = 0
  while (at < bytes.length) {
    const end = recordEnd(bytes, at)
    if (end !== undefined && end <= bytes.length && isIntact(bytes, at, end)) {
      records.push(bytes.toString('utf8', at + HEADER_BYTES, end - 1))
      at = end
      continue
    }
    if (!atEnd && (end === undefined ? bytes.length - at < HEADER_BYTES : end > bytes.length)) break
    const newline = bytes.indexOf(NEWLINE, at)
    if (newline === -1) break
    damaged += 1
    at = newline + 1
  }
  return { records, damaged, rest: bytes.subarray(at) }
}

/** Where the record at `at` would end by its length. Undefined if it is not a record. */
function recordEnd(bytes: Buffer, at: number): number | undefined {
  const text = bytes.toString('latin1', at, at + LENGTH_BYTES)
  if (!/^[0-9a-f]{8}$/.test(text)) return undefined
  const length = Number.parseInt(text, 16)
  return length > MAX_RECORD_BYTES ? undefined : at + HEADER_BYTES + length + 1
}

/** The newline is not checked: the record is complete without it. */
function isIntact(bytes: Buffer, at: number, end: number): boolean {
  const length = bytes.subarray(at, at + LENGTH_BYTES)
  const content = bytes.subarray(at + HEADER_BYTES, end - 1)
  const stated = bytes.toString('latin1', at + LENGTH_BYTES, at + HEADER_BYTES)
  return stated === checksum(Buffer.concat([length, content]))
}

function checksum(bytes: Buffer): string {
  return Bun.hash.crc32(bytes).toString(16).padStart(LENGTH_BYTES, '0')
}

const DIGITS = Buffer.from('0123456789abcdef')

/** Eight digits. Allocates no string, because it runs for each tool call. */
function writeHex(bytes: Buffer, at: number, value: number): void {
  for (let n = 0; n < LENGTH_BYTES; n++) {
    bytes[at + n] = DIGITS[(value >>> (4 * (LENGTH_BYTES - 1 - n))) & 15] as number
  }
}
