const LF = 10
const CR = 13

/** What ends an event: a line end and an empty line; `\r\r\n` ends after its second CR. */
export const BLANK_LINE = /(?:\r\n|\n)(?:\r\n|\n|\r)|\r\r/g

/** Longest beginning of a blank line that can end a chunk: `\r\n\r`. */
export const TAIL = 3

/**
 * Index of the next blank line, or -1; `BLANK_LINE.lastIndex` is where it ends. A CR that closes
 * the text may be half of a CRLF, so that one is left for later.
 */
export function findBlankLine(text: string, from: number, final: boolean): number {
  BLANK_LINE.lastIndex = from
  const index = BLANK_LINE.exec(text)?.index ?? -1
  const end = BLANK_LINE.lastIndex
  const halfCrlf =
    end === text.length && text.charCodeAt(end - 1) === CR && text.charCodeAt(end - 2) === LF
  return halfCrlf && !final ? -1 : index
}
