import {
  type SqlReading,
  type SqlScript,
  type SqlStatement,
  type SqlToken,
  splitSql,
} from './sql-tokens.ts'
import { isWord } from './sql-walk.ts'
import { spend } from './work.ts'

/** Splits a text into statements and tokens. Linear in its length; never throws. */
export function readSql(source: string, reading: SqlReading): SqlScript {
  const script = splitSql(source, reading)
  // The mysql client splits at each delimiter, even inside blocks.
  return reading.client === 'words'
    ? script
    : { ...script, statements: joinBodies(script.statements) }
}

/** Maximum length of a joined routine body, in statements. */
const MAX_BODY = 200
const isRoutine: ReadonlySet<string> = new Set(['TRIGGER', 'PROCEDURE', 'FUNCTION', 'EVENT'])

/** Joins `CREATE … BEGIN …; …; END`, because routine bodies contain semicolons. */
function joinBodies(statements: readonly SqlStatement[]): readonly SqlStatement[] {
  const joined: SqlStatement[] = []
  for (let i = 0; i < statements.length; i += 1) {
    const statement = statements[i] as SqlStatement
    joined.push(statement)
    if (statement.kind !== 'sql' || statement.tokens[0]?.text !== 'CREATE') continue
    if (!statement.tokens.slice(1, 9).some((token) => isWord(token, isRoutine))) continue
    let open = openBlocks(statement.tokens)
    let last = i
    const tokens = [...statement.tokens]
    while (open > 0 && last + 1 < statements.length && last - i < MAX_BODY) {
      last += 1
      const following = statements[last] as SqlStatement
      if (following.kind !== 'sql') break
      tokens.push({ kind: 'mark', text: ';' }, ...following.tokens)
      open += openBlocks(following.tokens)
    }
    if (open !== 0 || last === i) continue
    joined[joined.length - 1] = { kind: 'sql', tokens }
    i = last
  }
  return joined
}

const notBlockEnds: ReadonlySet<string> = new Set(['IF', 'LOOP', 'WHILE', 'REPEAT', 'FOR'])

function openBlocks(tokens: readonly SqlToken[]): number {
  let open = 0
  spend(2 * tokens.length)
  tokens.forEach((token, i) => {
    if (token.kind !== 'word') return
    if (token.text === 'BEGIN') open += 1
    else if (token.text === 'CASE' && tokens[i - 1]?.text !== 'END') open += 1
    else if (token.text === 'END' && !isWord(tokens[i + 1], notBlockEnds)) open -= 1
  })
  return open
}
