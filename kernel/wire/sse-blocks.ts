import { createSseSplitter } from './sse.ts'

/** The text between two blank lines of an event stream. */
export interface SseBlock {
  /** The exact text, including its blank line. */
  readonly raw: string
  /** The joined `data:` lines; undefined if none. */
  readonly data: string | undefined
  /** It has an id from which a client can resume. */
  readonly hasId: boolean
}

const LINE_END = /\r\n|\n|\r/

/** Splits event-stream text into blocks, including comments, however the text is chunked. */
export function createSseBlocks() {
  const splitter = createSseSplitter()
  return {
    /** Characters of the incomplete block. */
    get pending(): number {
      return splitter.pending
    },
    push(text: string): SseBlock[] {
      return splitter.push(text).map(readBlock)
    },
  }
}

function readBlock(raw: string): SseBlock {
  let data: string | undefined
  let hasId = false
  for (const line of raw.split(LINE_END)) {
    if (line.startsWith('data:') || line === 'data') {
      const value = line.slice(line[5] === ' ' ? 6 : 5)
      data = data === undefined ? value : `${data}\n${value}`
    } else if (line.startsWith('id:')) {
      hasId = true
    }
  }
  return { raw, data, hasId }
}

/** Replaces the data of a block; id, name and comments are kept. `data` is one line of JSON. */
export function withData({ raw }: SseBlock, data: string): string {
  const kept = raw
    .split(LINE_END)
    .filter((line) => line !== '' && line !== 'data' && !line.startsWith('data:'))
  return `${[...kept, `data: ${data}`].join('\n')}\n\n`
}

const LF = 10
const CR = 13

/** Tracks event boundaries in the bytes of a stream. */
export function createBoundary() {
  // Nothing was sent yet, which counts as after a blank line.
  let before = LF
  let last = LF
  let beforeThat = LF
  return {
    add(bytes: Uint8Array): void {
      for (const byte of bytes.subarray(-3)) {
        beforeThat = before
        before = last
        last = byte
      }
    },
    /** Whether the last event is complete, so that a comment can follow. */
    between(): boolean {
      if (last === LF && before === LF) return true
      if (last === CR) return before === CR || before === LF
      return last === LF && before === CR && (beforeThat === LF || beforeThat === CR)
    },
  }
}
