import type { Word as WordNode } from 'unbash'
import type { Word } from './command.ts'
import { literal, noCommands } from './command-state.ts'

/**
 * A word that is bare, or one quoted part, without expansions and escapes; `undefined` for others.
 * Most words are, and the parser would read a word again to get its value.
 */
export function knownWord({ text }: WordNode): Word | undefined {
  if (endsLine(text)) return undefined
  const first = text.charCodeAt(0)
  if (first === SINGLE_QUOTE || first === DOUBLE_QUOTE) {
    const last = text.length - 1
    if (text.indexOf(first === SINGLE_QUOTE ? "'" : '"', 1) !== last || last < 1) return undefined
    if (first === DOUBLE_QUOTE && /[$`\\]/.test(text)) return undefined
    return literal(text.slice(1, last))
  }
  for (let at = 0; at < text.length; at++) if (isSpecial(text.charCodeAt(at))) return undefined
  return { text, dynamic: false, quoted: false, produced: noCommands }
}

/** Windows line ends: the carriage return is not part of the last word. */
export function endsLine(text: string): boolean {
  return text.charCodeAt(text.length - 1) === CARRIAGE_RETURN
}

export function withoutReturn(word: Word): Word {
  let { text } = word
  while (endsLine(text)) text = text.slice(0, -1)
  return { ...word, text }
}

function isSpecial(c: number): boolean {
  // " $ ' ( \ ` {
  return c === 34 || c === 36 || c === 39 || c === 40 || c === 92 || c === 96 || c === 123
}

const CARRIAGE_RETURN = 13
const SINGLE_QUOTE = 39
const DOUBLE_QUOTE = 34
