import { isPostgres, judgeAsPostgres } from './sql-postgres.ts'
import { readSql } from './sql-script.ts'
import { type JudgeNested, judgeStatement } from './sql-statement.ts'
import {
  type SqlReading,
  type SqlScript,
  type SqlStatement,
  standardReading,
} from './sql-tokens.ts'
import type { SqlHazard } from './sql-verbs.ts'
import { spend, workingAlone } from './work.ts'

export { loadPostgresParser } from './sql-postgres.ts'
export type { SqlHazard } from './sql-verbs.ts'

/** The database that a text is for; `any` if unknown. */
export type SqlDialect = 'postgres' | 'mysql' | 'sqlite' | 'duckdb' | 'bigquery' | 'any'

/** Maximum length of a judged text, in characters. */
const MAX_CHARS = 64 * 1024
const MAX_PARENTHESES = 200
/** The Postgres parser takes quadratic time for nested comments. */
const MAX_COMMENTS = 500
const MAX_NESTING = 4

const postgres: SqlReading = { ...standardReading, nested: true, dollar: true }
const mysql: SqlReading = {
  ...standardReading,
  backslash: true,
  hash: true,
  spacedDashes: true,
  bang: true,
}
const sqlite: SqlReading = { ...standardReading, bracket: true }
const bigquery: SqlReading = { ...standardReading, backslash: true, hash: true }

const readings: Readonly<Record<SqlDialect, readonly SqlReading[]>> = {
  postgres: [postgres],
  mysql: [mysql],
  sqlite: [sqlite],
  duckdb: [postgres],
  bigquery: [bigquery],
  any: [{ ...postgres, batches: true }, mysql, { ...sqlite, batches: true }],
}

const clients = { postgres: 'backslash', mysql: 'words', sqlite: 'dot', duckdb: 'dot' } as const

/** Without one of these words the verdict is always `undefined`. */
const concerning =
  /drop|truncate|delete|update|merge|alter|copy|purge|reset|prepare|exec|dblink|query_to|openquery|^\s*do\b|;\s*do\b/i
/** White space in DuckDB, BigQuery and SQL Server; parts of a name in others. */
const unicodeSpaces = /[\u00a0\u1680\u180e\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]/g
const readDifferently = /[\\#$[]|\/\*|--/

/**
 * The hazard of a SQL text, or `undefined`. `viaClient`: the text goes through the database's
 * command-line client, which has additional commands. For an unknown dialect the text is read in
 * each way that differs, and each must be harmless; so must the reading of the Postgres parser, if
 * it succeeds. Throws only OverCap.
 */
export function judgeSql(
  text: string,
  dialect: SqlDialect,
  viaClient = false,
): SqlHazard | undefined {
  return workingAlone(() => {
    const hazard = judge(text, dialect, viaClient, 0)
    if (hazard !== undefined) return hazard
    const spaced = text.replace(unicodeSpaces, ' ')
    return spaced === text ? undefined : judge(spaced, dialect, viaClient, 0)
  })
}

function judge(
  text: string,
  dialect: SqlDialect,
  viaClient: boolean,
  depth: number,
): SqlHazard | undefined {
  if (text.includes('\0') || text.length > MAX_CHARS || depth > MAX_NESTING) return 'unreadable'
  const client = viaClient && dialect in clients ? clients[dialect as keyof typeof clients] : 'none'
  const mayConcern = concerning.test(text)
  if (!mayConcern && client === 'none') return undefined
  spend(16 + (text.length >> 2))
  if (nesting(text) > MAX_PARENTHESES || text.split('/*', MAX_COMMENTS + 2).length > MAX_COMMENTS) {
    return 'unreadable'
  }
  const nested: JudgeNested = (inner) => judge(inner, dialect, false, depth + 1)

  const kinds = readings[dialect]
  const used = kinds.length > 1 && !readDifferently.test(text) ? kinds.slice(0, 1) : kinds
  let broken: string | undefined
  let whole = false
  let asPostgres: SqlScript | undefined
  for (const kind of used) {
    const script = readSql(text, { ...kind, client })
    if (kind.dollar) asPostgres = script
    for (const statement of script.statements) {
      const hazard = judgeOne(statement, nested)
      if (hazard !== undefined) return hazard
    }
    if (script.broken === undefined) whole = true
    else broken ??= script.broken
  }
  // Unclosed in each reading, so it may be anything that it mentions.
  if (!whole && broken !== undefined && /\b(?:drop|truncate|delete|update|alter)\b/i.test(broken)) {
    return 'unreadable'
  }
  if (!mayConcern || !whole) return undefined
  return judgeAsPostgres(text, asPostgres ?? readSql(text, postgres), nested)
}

/**
 * Whether Postgres reads a text as complete SQL. Only for texts in which `judgeSql` found
 * something.
 */
export function isCompleteSql(text: string): boolean {
  return isPostgres(text, readSql(text, postgres))
}

function judgeOne(statement: SqlStatement, nested: JudgeNested): SqlHazard | undefined {
  return statement.kind === 'sql'
    ? judgeStatement(statement.tokens, nested)
    : judgeClientLine(statement.line, nested)
}

function nesting(text: string): number {
  let depth = 0
  let deepest = 0
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === OPEN) {
      depth += 1
      deepest = Math.max(deepest, depth)
    } else if (code === CLOSE) depth -= 1
  }
  return deepest
}

const OPEN = 40
const CLOSE = 41

/** Commands of the clients: psql's backslash, mysql's words, the dots of sqlite3 and duckdb. */
const clientCommands: readonly (readonly [RegExp, SqlHazard])[] = [
  // sqlite3 accepts its commands by their first letters.
  [/^(?:\\!|\\system\b|system\b|\.(?:sy[stem]*|sh[el]*)(?:\s|$))/i, 'client_shell'],
  [/^\\(?:g|gx|o|out|w|write)\s*\|/, 'client_shell'],
  [/^\.(?:output|once|excel|import)\s+.*\|/i, 'client_shell'],
  [/^\\copy\s*(?:\(.*\)|[^(']*(?:\([^)]*\))?)\s*(?:from|to)\s+program\b/i, 'program'],
  // A psql line `\.` ends the rows of a COPY; mysql's has a file behind it.
  [/^\\\.\s*\S/, 'client_file'],
  [
    /^(?:\\i|\\ir|\\include|\\include_relative|source|\.rea|\.read|\.res[tore]*|\.load)(?:\s|$)/i,
    'client_file',
  ],
  // Runs the result of a query, or text edited by hand.
  [/^\\(?:(?:gexec|e|edit|ef|ev|gset)(?!\w)|set\s.*`)/, 'unreadable'],
]

function judgeClientLine(line: string, nested: JudgeNested): SqlHazard | undefined {
  // Several psql commands may share a line; \copy takes the whole line.
  const shared = line.startsWith('\\') && !line.startsWith('\\copy')
  // White space is collapsed, because some patterns would try each way to split it.
  const plain = line.replace(/\s+/g, ' ')
  spend(16 + line.length)
  for (const part of shared ? plain.split(/(?=\\)/) : [plain]) {
    spend(16)
    for (const [pattern, hazard] of clientCommands) if (pattern.test(part)) return hazard
  }
  const query = /^\\copy\s*\((.*)\)/is.exec(line)?.[1]
  return query === undefined ? undefined : nested(query)
}
