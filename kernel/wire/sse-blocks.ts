import { createSseSplitter } from './sse.ts'

/** What stands between two blank lines of an event stream. */
export interface SseBlock {
  /** The exact text, its blank line included. */
  readonly raw: string
  /** The `data:` lines, joined; undefined when there are none. */
  readonly data: string | undefined
  /** A client that has seen it can resume behind it. */
  readonly hasId: boolean
}

const LINE_END = /\r\n|\n|\r/

/** Cuts the text of an event stream into its blocks, comments included, wherever the pieces end. */
export function createSseBlocks() {
  const splitter = createSseSplitter()
  return {
    /** Characters of the block that is not complete. */
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

/** The block with other data; its id, name and comments stay. `data` is JSON, of one line. */
export function withData({ raw }: SseBlock, data: string): string {
  const kept = raw
    .split(LINE_END)
    .filter((line) => line !== '' && line !== 'data' && !line.startsWith('data:'))
  return `${[...kept, `data: ${data}`].join('\n')}\n\n`
}

const LF = 10
const CR = 13

/** Follows where in its events a stream is, by its bytes. */
export function createBoundary() {
  // As after a blank line: nothing has been sent.
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
