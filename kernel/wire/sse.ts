import { GatewayError } from '../plugin/errors.ts'
import { type StreamEvent, streamEvent } from '../plugin/stream.ts'
import { BLANK_LINE, findBlankLine, TAIL } from './blank-line.ts'

/** Longest event that may be pending, in UTF-16 units. */
const EVENT_LIMIT = 16 * 1024 * 1024

const LF = 10
const CR = 13
const SPACE = 32

/**
 * Server-sent events of a byte stream, in batches: all that one chunk completed, never an empty
 * batch. Comments and events without data are dropped. Throws GatewayError `upstream_transport`
 * for invalid UTF-8, for an event over 16 MiB and for an end within an event, except that a final
 * `data: [DONE]` may lack its blank line. Returning early cancels the source. Errors of the source
 * itself pass through.
 */
export function decodeSse(
  bytes: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
): AsyncIterableIterator<readonly StreamEvent[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const splitter = createSplitter()
  const source = (bytes as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  let ended = false

  async function stop(): Promise<IteratorResult<readonly StreamEvent[], undefined>> {
    if (!ended) {
      ended = true
      await source.return?.()
    }
    return OVER
  }

  return {
    /** By hand, because a generator costs two more turns for each event. */
    async next() {
      try {
        while (!ended) {
          const piece = await source.next()
          if (piece.done === true) ended = true
          const events = ended
            ? splitter.end(decodeText(decoder))
            : splitter.push(decodeText(decoder, piece.value))
          if (events.length > 0) return { done: false, value: events }
        }
        return OVER
      } catch (error) {
        stop().catch(() => {})
        throw error
      }
    },
    return: stop,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

const OVER = { done: true, value: undefined } as const

/** One event as text: `event:` when it is named, a `data:` line for each line of `data`. */
export function encodeSse(data: string, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  return hasLineEnd(data)
    ? `${name}data: ${data.split(/\r\n|\n|\r/).join('\ndata: ')}\n\n`
    : `${name}data: ${data}\n\n`
}

function decodeText(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch (cause) {
    throw new GatewayError('upstream_transport', 'invalid UTF-8 in the upstream stream', { cause })
  }
}

function createSplitter() {
  /** The beginning of an event that is not complete. It grows as a rope, so it is not searched. */
  let rest = ''
  /** The end of `rest`, where a blank line may have begun. */
  let tail = ''

  function split(text: string, final: boolean): StreamEvent[] {
    const events: StreamEvent[] = []
    const mayHaveCr = text.includes('\r')
    let at = 0
    for (;;) {
      while (isLineEnd(text.charCodeAt(at))) at++
      let end: number
      let next: number
      if (mayHaveCr) {
        end = findBlankLine(text, at, final)
        next = BLANK_LINE.lastIndex
      } else {
        end = text.indexOf('\n\n', at)
        next = end + 2
      }
      if (end === -1) break
      const event = readEvent(text, at, end, next)
      if (event !== undefined) events.push(event)
      at = next
    }
    rest = text.slice(at)
    tail = rest.slice(-TAIL)
    return events
  }

  return {
    push(text: string): StreamEvent[] {
      const seam = tail + text
      let events: StreamEvent[] = []
      if (rest === '' || findBlankLine(seam, 0, false) !== -1) {
        events = split(rest + text, false)
      } else {
        rest += text
        tail = seam.slice(-TAIL)
      }
      if (rest.length > EVENT_LIMIT) {
        throw new GatewayError('upstream_transport', 'malformed event: larger than 16 MiB')
      }
      return events
    },

    end(text: string): StreamEvent[] {
      const events = split(rest + text, true)
      if (rest.trim() === '') return events
      const last = readEvent(rest, 0, rest.length, rest.length)
      if (last?.data.trim() !== '[DONE]') {
        throw new GatewayError('upstream_transport', 'premature end: the stream ended in an event')
      }
      events.push(streamEvent(last.data, last.event))
      return events
    },
  }
}

/** The event at `from`: fields before `end`, blank line before `next`. Undefined without data. */
function readEvent(text: string, from: number, end: number, next: number): StreamEvent | undefined {
  const body = text.slice(from, end)
  let event: string | undefined
  let data: string | undefined
  if (text.startsWith('data:', from) && !hasLineEnd(body)) {
    data = fieldValue(body, 5)
  } else {
    for (const line of body.split(/\r\n|\n|\r/)) {
      if (line.startsWith('data:')) {
        const value = fieldValue(line, 5)
        data = data === undefined ? value : `${data}\n${value}`
      } else if (line.startsWith('event:')) {
        event = fieldValue(line, 6)
      }
    }
  }
  if (data === undefined || data.trim() === '') return undefined
  return streamEvent(data, event, text.slice(from, next))
}

function fieldValue(line: string, at: number): string {
  return line.slice(line.charCodeAt(at) === SPACE ? at + 1 : at)
}

function hasLineEnd(text: string): boolean {
  return text.includes('\n') || text.includes('\r')
}

function isLineEnd(code: number): boolean {
  return code === LF || code === CR
}
