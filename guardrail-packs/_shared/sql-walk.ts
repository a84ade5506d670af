import type { SqlToken } from './sql-tokens.ts'
import { spend } from './work.ts'

/** Whether a token is one of these unquoted words (upper case). */
export function isWord(token: SqlToken | undefined, words: ReadonlySet<string>): boolean {
  return token?.kind === 'word' && words.has(token.text)
}

/** The first matching unquoted word at the level of `start`; -1 if none. */
export function findTop(
  tokens: readonly SqlToken[],
  start: number,
  fits: (token: SqlToken, index: number) => boolean,
): number {
  let depth = 0
  let i = start
  for (; i < tokens.length; i += 1) {
    const token = tokens[i] as SqlToken
    depth += slope(token)
    if (depth < 0 || (depth === 0 && isMark(token, ';'))) break
    if (depth === 0 && token.kind === 'word' && fits(token, i)) {
      spend((i - start) >> 1)
      return i
    }
  }
  spend(1 + ((i - start) >> 1))
  return -1
}

/** Where the level of `start` ends: at its closing parenthesis, a semicolon, or the end. */
export function levelEnd(tokens: readonly SqlToken[], start: number): number {
  let depth = 0
  let i = start
  for (; i < tokens.length; i += 1) {
    depth += slope(tokens[i])
    if (depth < 0 || (depth === 0 && isMark(tokens[i], ';'))) break
  }
  spend(1 + ((i - start) >> 1))
  return i
}

/** Where the parenthesis at `open` is closed. */
export function closing(tokens: readonly SqlToken[], open: number): number {
  return levelEnd(tokens, open + 1)
}

/** How a token changes the depth of parentheses. */
export function slope(token: SqlToken | undefined): number {
  return isMark(token, '(') ? 1 : isMark(token, ')') ? -1 : 0
}

export function isMark(token: SqlToken | undefined, text: string): boolean {
  return token?.kind === 'mark' && token.text === text
}

/** Whether a token is this unquoted word (upper case). */
export function isKeyword(token: SqlToken | undefined, text: string): boolean {
  return token?.kind === 'word' && token.text === text
}
