/** The kind of a body, by its first bytes. */
export type BodyKind = 'json' | 'events' | 'other'

const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const latin1 = new TextDecoder('latin1')
const SPACE = 0x20
const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
/** A complete field name of a server-sent event. */
const FIELD = /^(?:data|event|id|retry)?[:\r\n]/
/** An incomplete field name. */
const BEGINNING = /^(?:d|da|dat|data|e|ev|eve|even|event|i|id|r|re|ret|retr|retry)$/
/** Characters needed to decide: the longest name plus one. */
const DECISIVE = 6

/** Undefined if more bytes are needed. */
export function kindOf(bytes: Uint8Array): BodyKind | undefined {
  let at = 0
  while (at < BYTE_ORDER_MARK.length && bytes[at] === BYTE_ORDER_MARK[at]) at++
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at++
  if (bytes[at] === OPEN_BRACE || bytes[at] === OPEN_BRACKET) return 'json'
  const text = latin1.decode(bytes.subarray(at, at + DECISIVE))
  if (FIELD.test(text)) return 'events'
  return text === '' || BEGINNING.test(text) ? undefined : 'other'
}

/** The kind of a body, with all its bytes. `other` for an empty one. */
export async function judge(
  source: AsyncIterator<Uint8Array>,
): Promise<{ readonly kind: BodyKind; readonly bytes: AsyncIterable<Uint8Array> }> {
  const seen: Uint8Array[] = []
  let kind: BodyKind | undefined
  while (kind === undefined) {
    const piece = await source.next()
    if (piece.done === true) kind = 'other'
    else {
      seen.push(piece.value)
      kind = kindOf(seen.length === 1 ? piece.value : Buffer.concat(seen))
    }
  }
  let at = 0
  const bytes: AsyncIterator<Uint8Array> = {
    next: () =>
      at < seen.length
        ? Promise.resolve({ done: false, value: seen[at++] as Uint8Array })
        : source.next(),
    return: async () => {
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
  return { kind, bytes: { [Symbol.asyncIterator]: () => bytes } }
}
