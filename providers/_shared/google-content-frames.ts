import { GatewayError } from 'model-gateway/plugin'
import { decodeSse, type StreamEvent, streamEvent } from 'model-gateway/wire'

/** Maximum length of a pending response, in UTF-16 units. */
const RESPONSE_LIMIT = 16 * 1024 * 1024

const QUOTE = 34
const COMMA = 44
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/**
 * The responses of a Google content stream, in batches: those that one chunk completed. The stream
 * is server-sent events or one JSON array, which the first byte tells. Throws GatewayError
 * `upstream_transport` for other data. Returning early cancels the source.
 */
export async function* decodeGoogleStream(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly StreamEvent[]> {
  const source = bytes[Symbol.asyncIterator]()
  const head: Uint8Array[] = []
  let first: number | undefined
  try {
    while (first === undefined) {
      const { done, value } = await source.next()
      if (done === true) break
      head.push(value)
      first = value.find((byte) => !isSpace(byte))
    }
    const whole = continued(head, source)
    yield* first === OPEN_BRACKET || first === OPEN_BRACE ? decodeArray(whole) : decodeSse(whole)
  } finally {
    await source.return?.()
  }
}

async function* continued(
  head: readonly Uint8Array[],
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head
  for (;;) {
    const { done, value } = await source.next()
    if (done === true) return
    yield value
  }
}

async function* decodeArray(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly StreamEvent[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const scanner = createScanner()
  for await (const chunk of bytes) {
    const events = scanner.push(decodeText(decoder, chunk))
    if (events.length > 0) yield events
  }
  scanner.push(decodeText(decoder))
  scanner.end()
}

function decodeText(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch (cause) {
    throw new GatewayError('upstream_transport', 'invalid UTF-8 in the upstream stream', { cause })
  }
}

/** Finds the objects in the text of an array, however it is cut. */
function createScanner() {
  let array: 'none' | 'open' | 'closed' = 'none'
  /** Nesting depth of the scan; 0 between objects. */
  let depth = 0
  let inString = false
  let escaped = false
  /** The text of an incomplete object. */
  let rest = ''

  function betweenObjects(code: number): void {
    if (isSpace(code)) return
    if (array === 'none' && code === OPEN_BRACKET) array = 'open'
    else if (array === 'open' && code === CLOSE_BRACKET) array = 'closed'
    else if (array === 'closed' || code !== COMMA) throw malformed('data outside its objects')
  }

  return {
    push(text: string): StreamEvent[] {
      const events: StreamEvent[] = []
      let from = 0
      for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i)
        if (inString) {
          if (escaped) escaped = false
          else if (code === BACKSLASH) escaped = true
          else if (code === QUOTE) inString = false
        } else if (depth === 0) {
          if (code === OPEN_BRACE && array !== 'closed') {
            depth = 1
            from = i
          } else betweenObjects(code)
        } else if (code === QUOTE) inString = true
        else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
        else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) {
          events.push(streamEvent(rest + text.slice(from, i + 1)))
          rest = ''
        }
      }
      if (depth > 0) rest += text.slice(from)
      if (rest.length > RESPONSE_LIMIT) throw malformed('an object larger than 16 MiB')
      return events
    },
    end(): void {
      if (depth === 0 && array !== 'open') return
      throw new GatewayError(
        'upstream_transport',
        'premature end: the stream ended within its array',
      )
    },
  }
}

function malformed(what: string): GatewayError {
  return new GatewayError('upstream_transport', `malformed event: the array holds ${what}`)
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}
