import { readQuote } from './sql-quote.ts'
import { spend } from './work.ts'

/**
 * How a family of databases reads text. If the database is unknown, the text is read in several
 * ways.
 */
export interface SqlReading {
  /** A backslash escapes inside quotes (MySQL, BigQuery); else only inside `E'…'`. */
  readonly backslash: boolean
  /** Block comments nest (Postgres, DuckDB). */
  readonly nested: boolean
  /** `#` starts a comment (MySQL, BigQuery). */
  readonly hash: boolean
  /** `--` starts a comment only before a space (MySQL). */
  readonly spacedDashes: boolean
  /** The content of `/*! … *\/` is run (MySQL, MariaDB). */
  readonly bang: boolean
  /** `$tag$ … $tag$` quotes (Postgres, DuckDB, Snowflake). */
  readonly dollar: boolean
  /** `[name]` quotes (SQLite, SQL Server). */
  readonly bracket: boolean
  /** Statements may follow each other without a semicolon, and GO ends a batch (SQL Server). */
  readonly batches?: boolean
  /** Commands of the client that are not SQL. */
  readonly client: SqlClient
}

export const standardReading: SqlReading = {
  backslash: false,
  nested: false,
  hash: false,
  spacedDashes: false,
  bang: false,
  dollar: false,
  bracket: false,
  client: 'none',
}

/** `backslash`: psql; `dot`: SQLite, DuckDB; `words`: mysql (`source`, `delimiter`, `\!`). */
export type SqlClient = 'none' | 'backslash' | 'dot' | 'words'

export interface SqlToken {
  /** `word`: unquoted, `text` in upper case. `param`: `$1`, `:name`, `@name`, `?`. */
  readonly kind: 'word' | 'name' | 'string' | 'number' | 'param' | 'mark'
  readonly text: string
  /** Only for strings: the value differs from the source (`\x44ROP`). */
  readonly escaped?: boolean
}

export type SqlStatement =
  | { readonly kind: 'sql'; readonly tokens: readonly SqlToken[] }
  /** A line for the client: `\! rm`, `.read x`, `source x`. */
  | { readonly kind: 'client'; readonly line: string }

export interface SqlScript {
  readonly statements: readonly SqlStatement[]
  /** The text after an unclosed quote or comment. */
  readonly broken: string | undefined
}

const wordStart = /[A-Za-z_\u0080-\uffff]/
const wordRun = /[\w$\u0080-\uffff]*/y
const numberRun = /(?:0[xX][\da-fA-F]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y
const dollarTag = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y
const paramRun = /(?:\$\d+|@{1,2}[\w.$]+|:[A-Za-z_]\w*|\?\d*)/y
const markRun = /<=>|<=|>=|<>|!=|==|\|\||&&|::|:=|=>|[\s\S]/y
/** `\!` and `\copy` take the whole line; others end at two backslashes. */
const psqlLine = /\\(?:!|copy\b)[^\n]*|\\(?!\\)(?:[^\n\\]|\\(?!\\))*/y
const mysqlLine = /(?:\\[!.d]|(?:source|system|delimiter)(?=\s))[^\n]*/iy

/** Ends the rows of a `COPY … FROM stdin`. */
const dataEnd = /\n\\\.[ \t\r]*(?=\n|$)/g

const batchStart =
  /GO[ \t]*(?=[\r\n]|$)|(?=(?:DROP\s+(?:TABLE|VIEW|DATABASE|SCHEMA|INDEX|PROC)|TRUNCATE\s+TABLE|DELETE\s+FROM)\b)/iy
/** What such a line may belong to. */
const batchBodies: ReadonlySet<string> = new Set(['CREATE', 'ALTER', 'EXPLAIN'])

/** Splits a text into tokens and, at each delimiter, into statements. Linear; never throws. */
export function splitSql(source: string, reading: SqlReading): SqlScript {
  const text = source.startsWith('\ufeff') ? source.slice(1) : source
  const statements: SqlStatement[] = []
  let tokens: SqlToken[] = []
  let delimiter = ';'
  let lineStart = true
  let bangs = 0
  let mayEnd = true
  let at = 0

  const run = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  const close = () => {
    if (tokens.length > 0) statements.push({ kind: 'sql', tokens })
    tokens = []
  }
  const broken = (): SqlScript => {
    const rest = text.slice(at)
    close()
    return { statements, broken: rest }
  }
  const lineEnd = () => {
    const end = text.indexOf('\n', at)
    return end === -1 ? text.length : end
  }
  /** The rows that psql copies are on the next lines up to a line `\.`. */
  const skipData = () => {
    const end = lineEnd()
    if (text.slice(at, end).trim() !== '') return
    dataEnd.lastIndex = end
    if (mayEnd && dataEnd.test(text)) at = dataEnd.lastIndex
    else mayEnd = false
  }

  spend(16 + (text.length >> 3))
  while (at < text.length) {
    spend(2)
    const here = text.charAt(at)
    const next = text.charAt(at + 1)
    const first = lineStart
    if (here === '\n') lineStart = true
    else if (here > ' ') lineStart = false
    if (here <= ' ') {
      at += 1
      continue
    }
    if (here === '-' && next === '-' && (!reading.spacedDashes || !(text.charAt(at + 2) > ' '))) {
      at = lineEnd()
      continue
    }
    if (here === '#' && reading.hash) {
      at = lineEnd()
      continue
    }
    if (here === '/' && next === '*') {
      const inside = text.charAt(at + 2)
      if (reading.bang && (inside === '!' || (inside === 'M' && text.charAt(at + 3) === '!'))) {
        at += inside === '!' ? 3 : 4
        while (text.charAt(at) >= '0' && text.charAt(at) <= '9') at += 1
        bangs += 1
        continue
      }
      const end = commentEnd(text, at, reading.nested)
      if (end === -1) return broken()
      at = end
      continue
    }
    if (bangs > 0 && here === '*' && next === '/') {
      bangs -= 1
      at += 2
      continue
    }
    if (text.startsWith(delimiter, at)) {
      const fed = reading.client === 'backslash' && readsData(tokens)
      close()
      at += delimiter.length
      if (fed) skipData()
      continue
    }
    if (reading.client === 'backslash' && here === '\\') {
      if (next === ';') {
        close()
        at += 2
        continue
      }
      const line = run(psqlLine) ?? here
      statements.push({ kind: 'client', line })
      // \g and similar send the collected text.
      if (/^\\(?:g|gx|gset|gexec|gdesc|crosstabview|watch)\b/.test(line)) close()
      at += line.length
      if (/^\\copy\b.*\bfrom\s+p?stdin\b/i.test(line)) skipData()
      // Two backslashes end a command: SQL follows on the same line.
      if (text.startsWith('\\\\', at)) at += 2
      continue
    }
    if (reading.client === 'dot' && here === '.' && first && tokens.length === 0) {
      const end = lineEnd()
      statements.push({ kind: 'client', line: text.slice(at, end) })
      at = end
      continue
    }
    if (reading.client === 'words') {
      if (here === '\\' && /[gG]/.test(next)) {
        close()
        at += 2
        continue
      }
      const line = tokens.length === 0 || here === '\\' ? run(mysqlLine) : undefined
      if (line !== undefined) {
        const set = /^(?:delimiter|\\d)\s+(\S+)/i.exec(line)
        if (set?.[1] !== undefined) delimiter = set[1]
        else statements.push({ kind: 'client', line })
        at += line.length
        continue
      }
    }
    if (here === "'" || here === '"' || here === '`' || (here === '[' && reading.bracket)) {
      const quote = readQuote(text, at, reading, tokens.at(-1))
      if (quote === undefined) return broken()
      // A prefix (E, N, B, X, U&, r) belongs to its string.
      if (quote.prefix) tokens.pop()
      tokens.push(quote.token)
      at = quote.end
      continue
    }
    if (here === '$' && reading.dollar) {
      const tag = run(dollarTag)
      if (tag !== undefined) {
        const end = text.indexOf(tag, at + tag.length)
        if (end === -1) return broken()
        tokens.push({ kind: 'string', text: text.slice(at + tag.length, end) })
        at = end + tag.length
        continue
      }
    }
    if (wordStart.test(here)) {
      const body = batchBodies.has(tokens[0]?.text ?? '')
      const batch = reading.batches && first && !body ? run(batchStart) : undefined
      if (batch !== undefined) {
        close()
        at += batch.length
        if (batch !== '') continue
      }
      at += 1
      const word = here + run(wordRun)
      at += word.length - 1
      tokens.push({ kind: 'word', text: word.toUpperCase() })
      continue
    }
    const number = run(numberRun)
    if (number !== undefined && /^[\d.]/.test(here) && number !== '.') {
      tokens.push({ kind: 'number', text: number })
      at += number.length
      continue
    }
    const param = here === ':' && next === ':' ? undefined : run(paramRun)
    if (param !== undefined) {
      tokens.push({ kind: 'param', text: param })
      at += param.length
      continue
    }
    const mark = run(markRun) ?? here
    tokens.push({ kind: 'mark', text: mark })
    at += mark.length
  }
  close()
  return { statements, broken: undefined }
}

/** `COPY … FROM stdin` takes its rows from the text. */
function readsData(tokens: readonly SqlToken[]): boolean {
  if (tokens[0]?.text === 'COPY') spend(tokens.length)
  return (
    tokens[0]?.text === 'COPY' &&
    tokens.some((token, i) => token.text === 'STDIN' && tokens[i - 1]?.text === 'FROM')
  )
}

function commentEnd(text: string, start: number, nested: boolean): number {
  let depth = 1
  let at = start + 2
  while (depth > 0) {
    const close = text.indexOf('*/', at)
    if (close === -1) return -1
    const open = nested ? text.indexOf('/*', at) : -1
    if (open !== -1 && open < close) {
      depth += 1
      at = open + 2
    } else {
      depth -= 1
      at = close + 2
    }
  }
  return at
}
