/** What a body is, as far as its first bytes tell. */
export type BodyKind = 'json' | 'events' | 'other'

const FIELDS = ['data', 'event', 'id', 'retry']
/** Longest beginning that is looked at: the name of a field and what follows it. */
const LONGEST = 6

/** Undefined while there are too few bytes to tell. */
export function kindOf(first: string): BodyKind | undefined {
  const text = first.replace(/^\ufeff/, '').trimStart()
  if (text === '') return undefined
  if (text.startsWith('{') || text.startsWith('[')) return 'json'
  if (text.startsWith(':')) return 'events'
  if (FIELDS.some((name) => text.startsWith(name) && /[:\r\n]/.test(text[name.length] ?? ''))) {
    return 'events'
  }
  const mayBecome = FIELDS.some((name) => name.startsWith(text) || text === name)
  return mayBecome && text.length < LONGEST ? undefined : 'other'
}

/** What a body is, and all of its bytes. Of an empty one `other`. */
export async function judge(
  source: AsyncIterator<Uint8Array>,
): Promise<{ readonly kind: BodyKind; readonly bytes: AsyncIterable<Uint8Array> }> {
  const seen: Uint8Array[] = []
  const decoder = new TextDecoder()
  let text = ''
  let kind: BodyKind | undefined
  while (kind === undefined) {
    const piece = await source.next()
    if (piece.done === true) kind = 'other'
    else {
      seen.push(piece.value)
      text += decoder.decode(piece.value, { stream: true })
      kind = kindOf(text)
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
