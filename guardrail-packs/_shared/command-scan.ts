import { type ParsedScript, parse } from 'unbash'
import { limits } from './command-state.ts'
import { OverCap, spend } from './work.ts'

/**
 * Parses a text for a shell. The parser cannot be interrupted, so its work is estimated and paid for before,
 * in one pass over the characters. What it reads only when it is asked for (`parts`, scripts in words) is
 * paid for where that is done: `readParts`, `eachChild`.
 */
export function parseShell(text: string): ParsedScript {
  checkText(text)
  return parse(text)
}

/** Throws OverCap for what is too long or too deep to be parsed, and for NUL bytes; pays for the rest. */
export function checkText(text: string): void {
  const { length } = text
  if (length > limits.length) throw new OverCap('too_long')
  if (length * 3 > limits.length && Buffer.byteLength(text) > limits.length)
    throw new OverCap('too_long')
  if (text.includes('\0')) throw new OverCap('nul')
  spend(estimate(text))
}

/** Parentheses that nobody closes are slow to parse; far more of them than may be nested are refused. */
const mostOpen = 2 * limits.nesting

/** Steps of parsing a text: by what separates and quotes words, as most of the work is per word. */
function estimate(text: string): number {
  let steps = 4 + (text.length >> 3)
  let open = 0
  let heredocs = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 9: // tab
      case 32: // space
        steps += 1
        break
      case 10: // newline
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
        // Heredocs of one line wait for each other.
        steps += 3 + (text.charCodeAt(at + 1) === 60 ? ++heredocs >> 4 : 0)
        break
    }
  }
  return steps
}
