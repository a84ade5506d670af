import type { SqlToken } from './sql-tokens.ts'
import { closing, isKeyword, isMark } from './sql-walk.ts'
import { wordSet } from './word-lists.ts'
import { spend } from './work.ts'

type Truth = 'true' | 'false' | 'unknown'

/** Words that are not columns: a condition of only these and constants limits nothing. */
const notColumns = wordSet(`
  ALL AND ANY ARRAY AS BETWEEN CASE CAST COLLATE CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DISTINCT ELSE
  END ESCAPE EXISTS FALSE FROM GLOB ILIKE IN IS ISNULL LIKE LOCALTIME LOCALTIMESTAMP NOT NOTNULL NULL OR
  REGEXP RLIKE SELECT SIMILAR SOME SYSDATE THEN TO TRUE UNKNOWN WHEN XOR
`)
const comparisons = wordSet('= == <=> <> != < > <= >=')
/** Patterns that match everything. */
const wholes: ReadonlyMap<string, RegExp> = new Map([
  ['LIKE', /^%+$/],
  ['ILIKE', /^%+$/],
  ['GLOB', /^\*+$/],
  ['REGEXP', /^\^?\.\*\$?$/],
  ['RLIKE', /^\^?\.\*\$?$/],
])
/** Comparisons that are true between a value and itself. */
const reflexive: ReadonlySet<string> = new Set(['=', '==', '<=>', '<=', '>='])

/**
 * Whether a WHERE condition is true for each row: `1=1`, `true`, `id = id`, `x = 2 OR 'a' = 'a'`,
 * `name LIKE '%'`, or any other condition without a column that is not plainly false.
 */
export function isAlwaysTrue(tokens: readonly SqlToken[]): boolean {
  return truth(tokens) === 'true'
}

function truth(tokens: readonly SqlToken[]): Truth {
  // Paid for per level, because each level splits, unwraps and prints it again.
  spend(8 + 4 * tokens.length)
  const inner = unwrap(tokens)
  if (inner.length === 0) return 'unknown'
  const either = splitAt(inner, 'OR', '||')
  if (either.length > 1) return anyTrue(either)
  const both = splitAt(inner, 'AND', '&&')
  if (both.length > 1) {
    const truths = both.map(truth)
    if (truths.includes('false')) return 'false'
    return truths.every((each) => each === 'true') ? 'true' : 'unknown'
  }
  let nots = 0
  while (isKeyword(inner[nots], 'NOT') || isMark(inner[nots], '!')) nots += 1
  if (nots === 0) return predicate(inner)
  const denied = truth(inner.slice(nots))
  return nots % 2 === 0 ? denied : negated(denied)
}

function anyTrue(parts: readonly (readonly SqlToken[])[]): Truth {
  const truths = parts.map(truth)
  if (truths.includes('true')) return 'true'
  const shown = new Set(parts.map((part) => show(unwrap(part))))
  for (const text of shown) {
    if (text.endsWith(' IS NOT NULL') && shown.has(text.replace(/ NOT NULL$/, ' NULL')))
      return 'true'
    if (text.startsWith('NOT ') && shown.has(text.slice(4))) return 'true'
  }
  return truths.every((each) => each === 'false') ? 'false' : 'unknown'
}

function predicate(tokens: readonly SqlToken[]): Truth {
  let depth = 0
  const at = tokens.findIndex((token) => {
    if (isMark(token, '(')) depth += 1
    else if (isMark(token, ')')) depth -= 1
    return depth === 0 && token.kind === 'mark' && comparisons.has(token.text)
  })
  if (at > 0) {
    const operator = tokens[at]?.text ?? ''
    const left = unwrap(tokens.slice(0, at))
    const right = unwrap(tokens.slice(at + 1))
    if (reflexive.has(operator) && show(left) === show(right)) return 'true'
    const compared = compare(left, operator, right)
    if (compared !== 'unknown') return compared
  }
  if (tokens.length === 1) {
    const value = constant(tokens)
    if (value !== undefined) return value === 0 || value === '0' || value === '' ? 'false' : 'true'
    if (isKeyword(tokens[0], 'FALSE') || isKeyword(tokens[0], 'NULL')) return 'false'
  }
  const like = tokens.findIndex((token) => token.kind === 'word' && wholes.has(token.text))
  if (like > 0 && !isKeyword(tokens[like - 1], 'NOT')) {
    const pattern = tokens[like + 1]
    if (pattern?.kind === 'string' && wholes.get(tokens[like]?.text ?? '')?.test(pattern.text))
      return 'true'
  }
  const same = show(tokens).split(/ IS (?:NOT DISTINCT FROM )?/)
  if (same.length === 2 && same[0] === same[1]) return 'true'
  return tokens.some(refers) ? 'unknown' : 'true'

  /** A value that differs between rows or calls: a column, a placeholder, a table. */
  function refers(token: SqlToken, i: number): boolean {
    if (token.kind === 'param' || token.kind === 'name') return true
    if (token.kind !== 'word' || notColumns.has(token.text)) return false
    const next = tokens[i + 1]
    const called = isMark(next, '(')
    // A type name precedes a string, or follows `::` or AS; DATE and TIME are often columns too.
    const typed =
      next?.kind === 'string' || isMark(tokens[i - 1], '::') || isKeyword(tokens[i - 1], 'AS')
    const span = isKeyword(token, 'INTERVAL') && next?.kind === 'number'
    const unit = isKeyword(tokens[i - 2], 'INTERVAL')
    return !called && !typed && !span && !unit
  }
}

function compare(left: readonly SqlToken[], operator: string, right: readonly SqlToken[]): Truth {
  const a = constant(left)
  const b = constant(right)
  if (a === undefined || b === undefined) return 'unknown'
  const same = typeof a === typeof b ? a === b : Number(a) === Number(b)
  const less = typeof a === typeof b ? a < b : Number(a) < Number(b)
  const holds =
    operator === '<>' || operator === '!='
      ? !same
      : operator === '<'
        ? less
        : operator === '>'
          ? !less && !same
          : operator === '<='
            ? less || same
            : operator === '>='
              ? !less
              : same
  return holds ? 'true' : 'false'
}

function constant(tokens: readonly SqlToken[]): number | string | undefined {
  const [first, second] = tokens
  if (tokens.length === 1) {
    if (first?.kind === 'number') return Number(first.text.replaceAll('_', ''))
    if (first?.kind === 'string') return first.text
    if (isKeyword(first, 'TRUE')) return 1
    if (isKeyword(first, 'FALSE')) return 0
  }
  if (
    tokens.length === 2 &&
    second?.kind === 'number' &&
    (isMark(first, '-') || isMark(first, '+'))
  ) {
    return Number(`${first?.text}${second.text.replaceAll('_', '')}`)
  }
  return undefined
}

function negated(value: Truth): Truth {
  return value === 'unknown' ? 'unknown' : value === 'true' ? 'false' : 'true'
}

/** Removes enclosing parentheses. */
function unwrap(tokens: readonly SqlToken[]): readonly SqlToken[] {
  let from = 0
  let to = tokens.length
  while (to - from >= 2 && isMark(tokens[from], '(') && closing(tokens, from) === to - 1) {
    from += 1
    to -= 1
  }
  return from === 0 ? tokens : tokens.slice(from, to)
}

/** Splits at a word or mark outside parentheses; the AND of a BETWEEN does not count. */
function splitAt(tokens: readonly SqlToken[], word: string, mark: string): SqlToken[][] {
  const parts: SqlToken[][] = [[]]
  let depth = 0
  let between = false
  for (const token of tokens) {
    if (isMark(token, '(')) depth += 1
    else if (isMark(token, ')')) depth -= 1
    if (depth === 0 && isKeyword(token, 'BETWEEN')) between = true
    if (depth === 0 && (isKeyword(token, word) || isMark(token, mark))) {
      if (!between || word !== 'AND') {
        parts.push([])
        continue
      }
      between = false
    }
    parts.at(-1)?.push(token)
  }
  return parts
}

function show(tokens: readonly SqlToken[]): string {
  spend(2 * tokens.length)
  return tokens.map((token) => (token.kind === 'string' ? `'${token.text}'` : token.text)).join(' ')
}
