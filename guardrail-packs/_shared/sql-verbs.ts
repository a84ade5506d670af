import { isAlwaysTrue } from './sql-condition.ts'
import type { SqlToken } from './sql-tokens.ts'
import { findTop, isMark, isWord, levelEnd, slope } from './sql-walk.ts'
import { wordSet } from './word-lists.ts'
import { spend } from './work.ts'

/** The hazard of a text, which needs a person's approval; `unreadable` if it cannot be judged. */
export type SqlHazard =
  | 'drop'
  | 'truncate'
  | 'delete'
  | 'update'
  | 'alter_drop'
  | 'merge_delete'
  | 'purge'
  | 'program'
  | 'client_shell'
  | 'client_file'
  | 'unreadable'

/** Lists of objects: what is dropped from them still exists. */
const collections = wordSet('GROUP PUBLICATION SUBSCRIPTION OPERATOR EXTENSION')
/** What ALTER may drop without losing rows. */
const losesNothing = wordSet('NOT DEFAULT IDENTITY EXPRESSION CONSTRAINT')
const conditionEnds = wordSet('RETURNING ORDER LIMIT OPTION')

export function judgeDelete(tokens: readonly SqlToken[], start: number): SqlHazard | undefined {
  const next = tokens[start + 1]
  const named =
    next?.kind === 'word' || next?.kind === 'name' || next?.kind === 'param' || isMark(next, '*')
  if (!named) return undefined
  return isBounded(tokens, start) ? undefined : 'delete'
}

export function judgeUpdate(tokens: readonly SqlToken[], start: number): SqlHazard | undefined {
  const assignment = findTop(tokens, start + 1, (token) => token.text === 'SET')
  // UPDATE SET belongs to an upsert or a MERGE.
  if (assignment === -1 || assignment === start + 1) return undefined
  return isBounded(tokens, assignment) ? undefined : 'update'
}

export function judgeMerge(tokens: readonly SqlToken[], start: number): SqlHazard | undefined {
  const at = findTop(
    tokens,
    start,
    (token, i) => token.text === 'DELETE' && tokens[i - 1]?.text === 'THEN',
  )
  return at === -1 ? undefined : 'merge_delete'
}

/** ALTER … DROP, except of a column's attributes and constraints; mutations of ClickHouse. */
export function judgeAlter(tokens: readonly SqlToken[], start: number): SqlHazard | undefined {
  if (isWord(tokens[start + 1], collections)) return undefined
  let depth = 0
  for (let i = start + 1; i < tokens.length; i += 1) {
    const token = tokens[i]
    spend(1)
    depth += slope(token)
    if (depth > 0 || token?.kind !== 'word' || isMark(tokens[i - 1], '.')) continue
    const next = tokens[i + 1]
    if (next === undefined || isMark(next, ',') || isMark(next, '.')) continue
    const names = next.kind !== 'mark' || next.text === '('
    if (token.text === 'DROP' && names && !isWord(next, losesNothing)) {
      return 'alter_drop'
    }
    if (token.text === 'TRUNCATE' && next.text === 'PARTITION') return 'truncate'
    if (token.text === 'DELETE' && next.text === 'WHERE' && !isBounded(tokens, i)) return 'delete'
    if (token.text === 'UPDATE' && isMark(tokens[i + 2], '=') && !isBounded(tokens, i))
      return 'update'
  }
  return undefined
}

export function judgeCopy(tokens: readonly SqlToken[], start: number): SqlHazard | undefined {
  const at = findTop(
    tokens,
    start,
    (token, i) => token.text === 'PROGRAM' && ['FROM', 'TO'].includes(tokens[i - 1]?.text ?? ''),
  )
  return at === -1 ? undefined : 'program'
}

/** `p.limit = 5` and `option = 'x'` name columns. */
function isColumn(tokens: readonly SqlToken[], i: number): boolean {
  const before = tokens[i - 1]
  return isMark(before, '.') || (tokens[i]?.text === 'OPTION' && !isMark(tokens[i + 1], '('))
}

/** Whether a WHERE at the statement's level limits it. */
function isBounded(tokens: readonly SqlToken[], start: number): boolean {
  const where = findTop(tokens, start, (token) => token.text === 'WHERE')
  if (where === -1) return false
  const end = findTop(
    tokens,
    where + 1,
    (token, i) => conditionEnds.has(token.text) && !isColumn(tokens, i),
  )
  spend(tokens.length - where)
  const condition = tokens.slice(where + 1, end === -1 ? levelEnd(tokens, where + 1) : end)
  return condition.length > 0 && !isAlwaysTrue(condition)
}
