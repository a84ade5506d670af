import { type ParsedScript, parse } from 'unbash'
import { limits } from './command-state.ts'
import { OverCap, spend } from './work.ts'

/**
 * Parses a text as shell. The parser cannot be interrupted, so its work is estimated and paid for
 * first, in one pass over the characters. Parts that it reads only on demand (`parts`, scripts in
 * words) are paid for there, with `payForParts`.
 */
export function parseShell(text: string): ParsedScript {
  checkText(text)
  return parse(text)
}

/**
 * Pays for the parts of a word before asking the parser for them. The parser reads the word once
 * more, and an expansion's content once more per enclosing expansion.
 */
export function payForParts(word: string): void {
  spend(8 + (word.length >> 2) + levelsOf(word))
}

/** Characters of a word, each counted once per open expansion. */
function levelsOf(word: string): number {
  const closers: number[] = []
  let single = false
  let levels = 0
  let sum = 0
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    sum += levels
    if (code === BACKSLASH) at++
    else if (code === SINGLE_QUOTE && closers.at(-1) !== DOUBLE_QUOTE) single = !single
    else if (code === DOLLAR) {
      const opener = word.charCodeAt(at + 1)
      const closer = opener === 123 ? 125 : opener === 91 ? 93 : opener === 40 ? 41 : 0
      if (closer === 0) continue
      closers.push(closer)
      at++
      if (++levels > limits.nesting) throw new OverCap('too_deep')
    } else if (code === closers.at(-1) && !single) {
      closers.pop()
      if (code !== DOUBLE_QUOTE) levels--
    } else if (code === DOUBLE_QUOTE) closers.push(code)
    else if (code === 40 && closers.at(-1) === 41) {
      closers.push(41)
      levels++
    }
  }
  return sum
}

const DOUBLE_QUOTE = 34
const DOLLAR = 36
const SINGLE_QUOTE = 39
const BACKSLASH = 92

/**
 * Throws OverCap for text that is too long or nested too deeply, and for NUL bytes; pays for the
 * rest.
 */
export function checkText(text: string): void {
  const { length } = text
  if (length > limits.length) throw new OverCap('too_long')
  if (length * 3 > limits.length && Buffer.byteLength(text) > limits.length)
    throw new OverCap('too_long')
  if (text.includes('\0')) throw new OverCap('nul')
  spend(estimate(text))
}

/** Unclosed parentheses are slow to parse; many more than the nesting limit are refused. */
const mostOpen = 2 * limits.nesting

/** Heredocs of one line: the parser takes quadratic time for them. */
const mostHeredocs = 500

/** Steps for parsing a text, by its separators and quotes, because most work is per word. */
function estimate(text: string): number {
  let steps = 24 + (text.length >> 3)
  let open = 0
  let heredocs = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 9: // tab
      case 32: // space
        steps += 1
        break
      case 10: // newline
        heredocs = 0
        steps += 3
        break
      case 38: // &
      case 59: // ;
      case 62: // >
      case 124: // |
        steps += 3
        break
      case 34: // "
      case 36: // $
      case 39: // '
      case 96: // `
      case 123: // {
        steps += 2
        break
      case 40: // (
        steps += 3
        if (++open > mostOpen) throw new OverCap('too_deep')
        break
      case 41: // )
        if (open > 0) open--
        break
      case 60: // <
        steps += 3
        if (text.charCodeAt(at + 1) === 60) {
          if (text.charCodeAt(at + 2) !== 60) steps += 8
          if (++heredocs > mostHeredocs) throw new OverCap('too_many')
          while (text.charCodeAt(at + 1) === 60) at++
        }
        break
    }
  }
  return steps
}
