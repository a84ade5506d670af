const encoder = new TextEncoder()

/** `text` as Postgres can hold it: without NUL characters and halves of characters. */
function storable(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '') : whole
}

/** The first `limit` UTF-16 units of `text`, made storable. */
export function limitedText(text: string | undefined, limit: number): string | undefined {
  if (text === undefined) return undefined
  return storable(text.length > limit ? text.slice(0, limit) : text)
}

/** The part of `text` that fits into `limit` bytes of UTF-8, made storable. */
export function limitedBytes(text: string | undefined, limit: number): string | undefined {
  if (text === undefined) return undefined
  // A UTF-16 unit takes three bytes at most.
  if (text.length * 3 <= limit) return storable(text)
  const { read } = encoder.encodeInto(text, new Uint8Array(limit))
  return storable(read < text.length ? text.slice(0, read) : text)
}
