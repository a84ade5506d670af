/** Bytes to search: metadata such as a cover image may come first. */
const HEAD_BYTES = 262_144

/**
 * The length of an audio file in seconds, from its header: WAV and FLAC. Undefined for others,
 * because their length is known only after reading the whole file.
 */
export async function soundLength(file: Blob): Promise<number | undefined> {
  const head = Buffer.from(await file.slice(0, HEAD_BYTES).arrayBuffer())
  const kind = head.toString('latin1', 0, 4)
  if (kind === 'RIFF') return wavLength(head, file.size)
  return kind === 'fLaC' ? flacLength(head) : undefined
}

/** https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html */
function wavLength(head: Buffer, size: number): number | undefined {
  let bytesPerSecond = 0
  for (let at = 12; at + 8 <= head.length; ) {
    const id = head.toString('latin1', at, at + 4)
    const length = head.readUInt32LE(at + 4)
    if (id === 'fmt ' && at + 20 <= head.length) bytesPerSecond = head.readUInt32LE(at + 16)
    if (id === 'data') {
      // A file that was written to a pipe does not have its length.
      const bytes = Math.min(length, size - at - 8)
      return bytesPerSecond > 0 ? bytes / bytesPerSecond : undefined
    }
    at += 8 + length + (length % 2)
  }
  return undefined
}

/** https://www.rfc-editor.org/rfc/rfc9639#section-8.2: the first block has 20 bits of rate, 36 of samples. */
function flacLength(head: Buffer): number | undefined {
  if (head.length < 26) return undefined
  const rate = head.readUIntBE(18, 3) >> 4
  const samples = (head.readUInt8(21) & 0x0f) * 2 ** 32 + head.readUInt32BE(22)
  return rate > 0 && samples > 0 ? samples / rate : undefined
}
