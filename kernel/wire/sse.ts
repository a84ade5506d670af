import { GatewayError } from '../plugin/errors.ts'
import { type StreamEvent, streamEvent } from '../plugin/stream.ts'

/** Maximum size of a pending event, in UTF-16 units. */
const EVENT_LIMIT = 16 * 1024 * 1024

const LF = 10
const CR = 13
const SPACE = 32
const LINE_END = /\r\n|\n|\r/

/**
 * Parses server-sent events from a byte stream, in batches: all events that one chunk completed,
 * never an empty batch. Drops comments and events without data. Throws GatewayError
 * `upstream_transport` for invalid UTF-8, for an event over 16 MiB and for an end within an event,
 * except that a final `data: [DONE]` may lack its blank line. Returning early cancels the source.
 * Errors of the source pass through.
 */
export function decodeSse(
  bytes: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
): AsyncIterableIterator<readonly StreamEvent[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const splitter = createSseSplitter()
  const source = (bytes as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  let ended = false
  /** The fault after the events that were returned last. */
  let fault: GatewayError | undefined

  async function stop(): Promise<IteratorResult<readonly StreamEvent[], undefined>> {
    if (!ended) {
      ended = true
      await source.return?.()
    }
    return OVER
  }

  /** Decodes one more piece, or the end; with invalid bytes, returns the text before them. */
  function decode(piece: Uint8Array | undefined): string {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true })
    } catch (cause) {
      fault = new GatewayError('upstream_transport', 'invalid UTF-8 in the upstream stream', {
        cause,
      })
      const shown = new TextDecoder().decode(piece)
      return shown.slice(0, Math.max(0, shown.indexOf('\ufffd')))
    }
  }

  function read(chunk: Uint8Array | undefined): StreamEvent[] {
    const text = decode(chunk)
    if (chunk !== undefined || fault !== undefined) return eventsOf(splitter.push(text))
    const { blocks, rest } = splitter.end(text)
    return [...eventsOf(blocks), ...lastEvent(rest)]
  }

  /** An event without a final blank line; none if the rest is not part of an event. */
  function lastEvent(rest: string): StreamEvent[] {
    if (rest.split(LINE_END).every(isBesideEvents)) return []
    const last = readEvent(rest)
    if (last?.data.trim() === '[DONE]') return [streamEvent(last.data, last.event)]
    fault = new GatewayError('upstream_transport', 'premature end: the stream ended in an event')
    return []
  }

  return {
    /** Written by hand because a generator costs two more microtasks per event. */
    async next() {
      try {
        while (!ended && fault === undefined) {
          const piece = await source.next()
          if (piece.done === true) ended = true
          const events = read(piece.done === true ? undefined : piece.value)
          if (splitter.pending > EVENT_LIMIT) {
            fault = new GatewayError('upstream_transport', 'malformed event: larger than 16 MiB')
          }
          if (events.length > 0) return { done: false, value: events }
        }
        if (fault === undefined) return OVER
        throw fault
      } catch (error) {
        fault = undefined
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

/** Whether a line is not part of an event: blank, a comment, or an id or retry time. */
function isBesideEvents(line: string): boolean {
  return line.trim() === '' || /^(?::|id:|retry:)/.test(line)
}

const OVER = { done: true, value: undefined } as const

/** A comment that keeps a silent stream open; clients ignore it. */
export const KEEP_ALIVE = ': keep-alive\n\n'

/** Formats an event: `event:` if it has a name, and a `data:` line per line of `data`. */
export function encodeSse(data: string, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  return hasLineEnd(data)
    ? `${name}data: ${data.split(LINE_END).join('\ndata: ')}\n\n`
    : `${name}data: ${data}\n\n`
}

/** Longest part of a blank line at the end of a piece: `\r\n\r`. */
const TAIL = 3

/**
 * Splits event-stream text after each blank line, however it is chunked. The blocks contain all the
 * text, including comments. Each character is read once or twice, whatever the block size.
 */
export function createSseSplitter() {
  /** The start of an incomplete block. It grows as a rope, so it is not searched. */
  let rest = ''
  /** The end of `rest`, in which a blank line may have begun. */
  let tail = ''

  function split(text: string, final: boolean): string[] {
    const blocks: string[] = []
    const hasCr = text.includes('\r')
    let at = 0
    for (;;) {
      const end = hasCr ? blankLineEnd(text, at, final) : text.indexOf('\n\n', at) + 2
      if (end < 2) break
      blocks.push(text.slice(at, end))
      at = end
    }
    rest = text.slice(at)
    tail = rest.slice(-TAIL)
    return blocks
  }

  return {
    /** Characters of the incomplete block. */
    get pending(): number {
      return rest.length
    },
    /** Returns the blocks that `text` completes. */
    push(text: string): readonly string[] {
      const seam = tail + text
      if (rest === '' || blankLineEnd(seam, 0, false) !== -1) return split(rest + text, false)
      rest += text
      tail = seam.slice(-TAIL)
      return []
    },
    /** Returns the blocks that the last text completes, and the unterminated rest. */
    end(text: string): { readonly blocks: readonly string[]; readonly rest: string } {
      return { blocks: split(rest + text, true), rest }
    },
  }
}

/**
 * The end of the next blank line, or -1. A blank line is a line end and an empty line; `\r\r\n`
 * ends after its second CR. A final CR may be half of a CRLF, so it waits unless `final`.
 */
function blankLineEnd(text: string, from: number, final: boolean): number {
  for (let at = from; at < text.length; at++) {
    const first = text.charCodeAt(at)
    if (!isLineEnd(first)) continue
    const isCr = first === CR && text.charCodeAt(at + 1) !== LF
    const line = first === CR && !isCr ? at + 2 : at + 1
    const second = text.charCodeAt(line)
    if (second === LF || (second === CR && isCr)) return line + 1
    if (second !== CR) continue
    if (text.charCodeAt(line + 1) === LF) return line + 2
    return line + 1 < text.length || final ? line + 1 : -1
  }
  return -1
}

function eventsOf(blocks: readonly string[]): StreamEvent[] {
  const events: StreamEvent[] = []
  for (const block of blocks) {
    const event = readEvent(block)
    if (event !== undefined) events.push(event)
  }
  return events
}

/** The event of a block; undefined if it has no data. */
function readEvent(block: string): StreamEvent | undefined {
  let from = 0
  while (isLineEnd(block.charCodeAt(from))) from++
  let to = block.length
  while (isLineEnd(block.charCodeAt(to - 1))) to--
  const body = block.slice(from, to)
  let event: string | undefined
  let data: string | undefined
  if (body.startsWith('data:') && !hasLineEnd(body)) {
    data = fieldValue(body, 5)
  } else {
    for (const line of body.split(LINE_END)) {
      if (line.startsWith('data:')) {
        const value = fieldValue(line, 5)
        data = data === undefined ? value : `${data}\n${value}`
      } else if (line.startsWith('event:')) {
        event = fieldValue(line, 6)
      }
    }
  }
  if (data === undefined || data.trim() === '') return undefined
  return streamEvent(data, event, block.slice(from))
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
