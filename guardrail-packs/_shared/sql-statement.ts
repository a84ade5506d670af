import type { SqlToken } from './sql-tokens.ts'
import {
  judgeAlter,
  judgeCopy,
  judgeDelete,
  judgeMerge,
  judgeUpdate,
  type SqlHazard,
} from './sql-verbs.ts'
import { closing, findTop, isMark, isWord } from './sql-walk.ts'
import { wordSet } from './word-lists.ts'
import { spend } from './work.ts'

/** Judges a text that a statement runs. */
export type JudgeNested = (text: string) => SqlHazard | undefined

const mainVerbs = wordSet('SELECT INSERT UPDATE DELETE MERGE VALUES TABLE REPLACE FROM')
const runVerbs = wordSet(
  'DROP TRUNCATE DELETE UPDATE MERGE ALTER EXECUTE EXEC COPY WITH INSERT REPLACE PURGE PREPARE',
)
/** Words after which a statement may begin inside a block. */
const controls = wordSet(
  'BEGIN THEN ELSE LOOP DO ATOMIC REPEAT EXCEPTION TRY CATCH TRAN TRANSACTION',
)
const blockStarts = wordSet(
  'BEGIN DECLARE IF WHILE LOOP FOR FOREACH CASE REPEAT ELSE ELSIF ELSEIF WHEN EXCEPTION END',
)
const guards = wordSet('IF WHILE')
const switches = wordSet('ON OFF')
const loopSources = wordSet('IN QUERY')
const objects = wordSet('TABLE VIEW DATABASE SCHEMA INDEX FROM')
const changeVerbs = wordSet('UPDATE MERGE')
const explainWords = wordSet(
  'ANALYZE ANALYSE VERBOSE EXTENDED PARTITIONS QUERY PLAN FORMAT AST SYNTAX PIPELINE ESTIMATE',
)
const routines = wordSet('RULE TRIGGER FUNCTION PROCEDURE EVENT')
/** Functions that run a text as SQL, by their names in several databases. */
const runners = wordSet(
  'DBLINK DBLINK_EXEC DBLINK_SEND_QUERY QUERY_TO_XML CURSOR_TO_XML QUERY_TO_XML_AND_XMLSCHEMA POSTGRES_EXECUTE MYSQL_EXECUTE OPENQUERY SP_EXECUTESQL',
)

/** The hazard of one statement, or `undefined`. Never throws. */
export function judgeStatement(
  tokens: readonly SqlToken[],
  nested: JudgeNested,
): SqlHazard | undefined {
  return judgeFrom(tokens, skipLabel(tokens), nested)
}

function judgeFrom(
  tokens: readonly SqlToken[],
  start: number,
  nested: JudgeNested,
): SqlHazard | undefined {
  spend(8)
  const head = tokens[start]
  if (head?.kind === 'param') return 'unreadable'
  if (isMark(head, '(')) return judgeInner(tokens, start, nested)
  if (head?.kind !== 'word') return undefined
  const next = tokens[start + 1]
  switch (head.text) {
    case 'DROP':
      return next === undefined || isMark(next, '(') || isMark(next, '.') || next.text === 'PREPARE'
        ? undefined
        : 'drop'
    case 'TRUNCATE':
      return next === undefined || isMark(next, '(') ? undefined : 'truncate'
    case 'PURGE':
      return next === undefined ? undefined : 'purge'
    case 'RESET':
      return next?.text === 'MASTER' || next?.text === 'BINARY' ? 'purge' : undefined
    case 'DELETE':
      return judgeDelete(tokens, start) ?? judgeInner(tokens, start, nested)
    case 'UPDATE':
      return judgeUpdate(tokens, start) ?? judgeInner(tokens, start, nested)
    case 'MERGE':
      return judgeMerge(tokens, start) ?? judgeInner(tokens, start, nested)
    case 'ALTER':
      return judgeAlter(tokens, start)
    case 'COPY':
      return judgeCopy(tokens, start) ?? judgeInner(tokens, start, nested)
    case 'WITH':
      return judgeWith(tokens, start, nested)
    case 'EXPLAIN':
    case 'DESCRIBE':
    case 'DESC':
    case 'ANALYZE':
      return judgeExplain(tokens, start, nested)
    case 'PREPARE':
      return judgePrepare(tokens, start, nested)
    case 'EXECUTE':
    case 'EXEC':
      return judgeExecute(tokens, start, nested)
    case 'DO':
      return judgeDo(tokens, start, nested)
    case 'USE':
    case 'SET':
      return judgeInner(tokens, start, nested) ?? judgeBehindSetting(tokens, start, nested)
    case 'CREATE':
      // The body of a routine is stored, not run.
      return tokens.slice(start, start + 9).some((token) => isWord(token, routines))
        ? undefined
        : judgeInner(tokens, start, nested)
    default:
      return (
        judgeInner(tokens, start, nested) ??
        (blockStarts.has(head.text) ? judgeBlock(tokens, start, nested) : undefined)
      )
  }
}

/**
 * SQL Server does not need a semicolon after these: `USE app DROP …`, `SET IDENTITY_INSERT a ON
 * DELETE …`.
 */
function judgeBehindSetting(
  tokens: readonly SqlToken[],
  start: number,
  nested: JudgeNested,
): SqlHazard | undefined {
  if (tokens[start]?.text === 'USE') return judgeFrom(tokens, start + 2, nested)
  const on = findTop(tokens, start + 1, (token) => switches.has(token.text))
  return on === -1 ? undefined : judgeFrom(tokens, on + 1, nested)
}

/** In Postgres a block is a string; in other databases it is written directly. */
function judgeDo(
  tokens: readonly SqlToken[],
  start: number,
  nested: JudgeNested,
): SqlHazard | undefined {
  const inText = [tokens[start + 1], tokens[start + 3]].some((token) => token?.kind === 'string')
  if (!inText) return judgeBlock(tokens, start, nested)
  spend(tokens.length)
  const language = tokens.findIndex((token) => token.kind === 'word' && token.text === 'LANGUAGE')
  if (language !== -1 && tokens[language + 1]?.text.toUpperCase() !== 'PLPGSQL') return 'unreadable'
  return judgeTexts(tokens, start, nested)
}

function skipLabel(tokens: readonly SqlToken[]): number {
  if (isMark(tokens[0], '<') && isMark(tokens[1], '<')) {
    const end = tokens.findIndex((token, i) => isMark(token, '>') && isMark(tokens[i + 1], '>'))
    return end === -1 ? 0 : end + 2
  }
  return tokens[0]?.kind === 'word' && isMark(tokens[1], ':') ? 2 : 0
}

/** Statements in parentheses (`AS (DELETE …)`), and calls that run a text as SQL. */
function judgeInner(
  tokens: readonly SqlToken[],
  start: number,
  nested: JudgeNested,
): SqlHazard | undefined {
  spend((tokens.length - start) >> 1)
  for (let i = start; i < tokens.length; i += 1) {
    if (!isMark(tokens[i], '(')) continue
    const first = tokens[i + 1]
    const deletes = first?.text === 'DELETE' && tokens[i + 2]?.text === 'FROM'
    const changes = isWord(first, changeVerbs)
    if (!deletes && !changes && !isWord(tokens[i - 1], runners)) continue
    const end = closing(tokens, i)
    const inside = tokens.slice(i + 1, end)
    const hazard = deletes || changes ? judgeFrom(inside, 0, nested) : judgeTexts(inside, 0, nested)
    if (hazard !== undefined) return hazard
    i = end
  }
  return undefined
}

function judgeWith(
  tokens: readonly SqlToken[],
  start: number,
  nested: JudgeNested,
): SqlHazard | undefined {
  const main = findTop(
    tokens,
    start + 1,
    (token, i) =>
      mainVerbs.has(token.text) && isMark(tokens[i - 1], ')') && tokens[i + 1]?.text !== 'AS',
  )
  return (
    judgeInner(tokens, start, nested) ?? (main === -1 ? undefined : judgeFrom(tokens, main, nested))
  )
}

function judgeExplain(
  tokens: readonly SqlToken[],
  start: number,
  nested: JudgeNested,
): SqlHazard | undefined {
  let runs = false
  let at = start
  if (tokens[at]?.text !== 'ANALYZE') at += 1
  while (at < tokens.length) {
    const token = tokens[at]
    if (isMark(token, '(')) {
      const end = closing(tokens, at)
      const analyze = tokens.slice(at, end).findIndex((each) => each.text.startsWith('ANALY'))
      const value = tokens[at + analyze + 1]
      if (analyze !== -1 && !['FALSE', 'OFF', '0', 'false', 'off'].includes(value?.text ?? '')) {
        runs = true
      }
      at = end + 1
      continue
    }
    if (!isWord(token, explainWords)) break
    if (token?.text.startsWith('ANALY')) runs = true
    at += 1
    if (token?.text === 'FORMAT') at += isMark(tokens[at], '=') ? 2 : 1
  }
  return runs ? judgeFrom(tokens, at, nested) : undefined
}

function judgePrepare(
  tokens: readonly SqlToken[],
  start: number,
  nested: JudgeNested,
): SqlHazard | undefined {
  const as = findTop(tokens, start, (token) => token.text === 'AS')
  if (as !== -1) return judgeFrom(tokens, as + 1, nested)
  const from = findTop(tokens, start, (token) => token.text === 'FROM')
  return from === -1 ? undefined : judgeDynamic(tokens.slice(from + 1), nested)
}

/** A prepared statement was judged when prepared; a text is judged now. */
function judgeExecute(
  tokens: readonly SqlToken[],
  start: number,
  nested: JudgeNested,
): SqlHazard | undefined {
  const next = tokens[start + 1]
  if (isWord(next, runners)) return judgeTexts(tokens, start, nested)
  spend(tokens.length - start)
  if (next?.text === 'IMMEDIATE') return judgeDynamic(tokens.slice(start + 2), nested)
  if (next?.kind === 'string' || isMark(next, '(') || next?.text === 'FORMAT') {
    return judgeDynamic(tokens.slice(start + 1), nested)
  }
  return undefined
}

/** An expression that yields SQL: only a literal can be judged. */
function judgeDynamic(tokens: readonly SqlToken[], nested: JudgeNested): SqlHazard | undefined {
  const end = tokens.findIndex(
    (token) => token.text === 'USING' || token.text === 'INTO' || isMark(token, ';'),
  )
  const expression = (end === -1 ? tokens : tokens.slice(0, end)).filter(
    (token) => !isMark(token, '(') && !isMark(token, ')'),
  )
  const hazard = judgeTexts(expression, 0, nested)
  if (hazard !== undefined) return hazard
  return expression.length === 1 && expression[0]?.kind === 'string' ? undefined : 'unreadable'
}

function judgeTexts(
  tokens: readonly SqlToken[],
  start: number,
  nested: JudgeNested,
): SqlHazard | undefined {
  spend(tokens.length - start)
  for (const token of tokens.slice(start)) {
    if (token.kind !== 'string') continue
    const hazard = token.escaped ? 'unreadable' : nested(token.text)
    if (hazard !== undefined) return hazard
  }
  return undefined
}

/** Statements inside a block: after BEGIN, THEN, ELSE, LOOP, DO and each semicolon. */
function judgeBlock(
  tokens: readonly SqlToken[],
  start: number,
  nested: JudgeNested,
): SqlHazard | undefined {
  spend((tokens.length - start) >> 1)
  for (let i = start + 1; i < tokens.length; i += 1) {
    if (!isWord(tokens[i], runVerbs)) continue
    const before = tokens[i - 1]
    // IF (…) DROP …, IF x IS NULL DROP TABLE …, as in SQL Server.
    const guarded =
      isWord(tokens[start], guards) && (isMark(before, ')') || isWord(tokens[i + 1], objects))
    // FOR r IN DELETE … LOOP
    const looped = isWord(before, loopSources)
    if (!isWord(before, controls) && !isMark(before, ';') && !guarded && !looped) continue
    const loop = looped ? findTop(tokens, i, (token) => token.text === 'LOOP') : -1
    if (loop !== -1) spend(loop)
    const hazard = judgeFrom(loop === -1 ? tokens : tokens.slice(0, loop), i, nested)
    if (hazard !== undefined) return hazard
  }
  return undefined
}
