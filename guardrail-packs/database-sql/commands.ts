import type { ProgramCall, SimpleCommand, Stdin, Word } from '../_shared/command.ts'
import { type Options, readOptions } from '../_shared/command-options.ts'
import { isTaken } from '../_shared/command-output.ts'
import type { Finding } from '../_shared/command-pack.ts'
import { judgeSql, type SqlHazard } from '../_shared/sql.ts'
import { clients, removingTools, type SqlClientTool } from './clients.ts'
import { ruleOfHazard } from './rules.ts'

const ARGUMENTS = 'command.arguments'

/** Hazards that fail in a read-only database. */
const changes: ReadonlySet<SqlHazard> = new Set([
  'drop',
  'truncate',
  'delete',
  'update',
  'alter_drop',
  'merge_delete',
  'purge',
])

type Judge = (sql: string) => SqlHazard | undefined

/** The first hazard of a command that uses a database. */
export function judgeCommand(command: SimpleCommand): Finding | undefined {
  if (removes(command)) return { ruleId: 'drop-tool', matchedField: 'command.executable' }
  if (command.calls.length > 0) {
    const finding = judgeCalls(command.calls)
    if (finding !== undefined) return finding
  }
  // `sqlplus login @file` runs a file.
  if (/^(?:sqlplus|sql|sqlcl)$/.test(command.executable) && command.words.some(isScript))
    return { ruleId: 'script-input', matchedField: ARGUMENTS }
  const client = clients.get(command.executable)
  if (client === undefined) return undefined
  return judgeClient(command, client)
}

const statementCalls =
  /(?:^|\.)(?:execute(?:many|script|sync|update)?|exec|query|queryraw|raw|executeraw(?:unsafe)?|do|run|prepare|mysqli_query|pg_query|select_all)$/i
const lost: ReadonlySet<SqlHazard> = new Set(['drop', 'truncate', 'delete', 'update', 'alter_drop'])

/** Statements that a program on the command line passes to a database. */
function judgeCalls(calls: readonly ProgramCall[]): Finding | undefined {
  for (const { name, strings } of calls) {
    if (!statementCalls.test(name)) continue
    for (const text of strings) {
      if (!/^\s*(?:drop|truncate|delete|update|alter)\s/i.test(text)) continue
      const hazard = judgeSql(text, 'any', true)
      if (hazard !== undefined && lost.has(hazard)) return found(hazard)
    }
  }
  return undefined
}

function isScript({ text }: Word): boolean {
  return text.startsWith('@') && text.length > 1
}

function removes(command: SimpleCommand): boolean {
  const tool = removingTools.get(command.executable)
  if (tool === undefined) return false
  const given = readOptions(withoutPassword(command.words), tool.table)
  if (given.has('--help', '--version', '-?', '-V')) return false
  if (tool.options !== undefined) return given.has(...tool.options)
  const { operands, said } = tool
  if (said !== undefined) return said.test(given.operands.map((word) => word.text).join(' '))
  // `create drop` creates a database named drop.
  return (
    operands === undefined ||
    given.operands.some(
      (word, i) =>
        operands.test(word.text) &&
        !/^(?:create|password)$/.test(given.operands[i - 1]?.text ?? ''),
    )
  )
}

function judgeClient(command: SimpleCommand, client: SqlClientTool): Finding | undefined {
  let words: readonly Word[] = command.words
  if (client.attachedPassword) words = withoutPassword(words)
  for (const pair of client.pairs ?? []) words = withoutPair(words, pair)
  const given = readOptions(words, client.table)
  let operands = given.operands
  if (client.subcommands !== undefined) {
    const [first, ...rest] = operands
    if (first === undefined || !client.subcommands.includes(first.text)) return undefined
    operands = rest
  }
  if (client.dryRun?.some((name) => given.has(name) && !isNo(given.value(name)))) return undefined

  const isReadOnly = given.has(...(client.readOnly ?? []))
  const judge = (text: string) => {
    const hazard = judgeSql(text, client.dialect, true)
    // The client's commands can open another database.
    const fails =
      isReadOnly && hazard !== undefined && changes.has(hazard) && !/^[^\S\n]*\./m.test(text)
    return fails ? undefined : hazard
  }
  const texts = valuesOf(given, client.sql)
  const files = valuesOf(given, client.files)
  let done = given.options.some(({ name }) => finishes(client, name))
  if (client.sqlFrom !== undefined) {
    let rest = operands.slice(client.sqlFrom)
    // `--use_legacy_sql false` leaves the value among the words of the query.
    if (rest.length > 1 && /^(?:true|false)$/.test(rest[0]?.text ?? '')) rest = rest.slice(1)
    if (client.subcommands !== undefined && rest.length > 0) texts.push(joined(rest))
    else texts.push(...rest)
    done ||= rest.length > 0
  }

  for (const text of texts) {
    const finding = judgeWord(text, judge, command)
    if (finding !== undefined) return finding
  }
  for (const file of files) {
    if (file !== undefined && isNothing(file)) continue
    const literal = file !== undefined && isInput(file) && isLiteral(command.stdin)
    if (!literal) return { ruleId: 'script-input', matchedField: ARGUMENTS }
    const finding = judgeInput(command, judge)
    if (finding !== undefined) return finding
  }
  const output = given.value('-o', '--output')
  if (output?.text.trimStart().startsWith('|'))
    return { ruleId: 'client-shell', matchedField: ARGUMENTS }
  if (done) {
    return given.dynamic ? { ruleId: 'unreadable-sql', matchedField: ARGUMENTS } : undefined
  }
  return judgeInput(command, judge)
}

/** The standard input of a client without SQL in its arguments. */
function judgeInput(command: SimpleCommand, judge: Judge): Finding | undefined {
  const { stdin } = command
  const fromInput: Finding = { ruleId: 'script-input', matchedField: ARGUMENTS }
  if (isTaken(stdin)) return fromInput
  switch (stdin.kind) {
    case 'inherited':
      return command.openEnded === 'appended'
        ? { ruleId: 'unreadable-sql', matchedField: ARGUMENTS }
        : undefined
    case 'file':
      return isNothing(stdin.source)
        ? undefined
        : { ruleId: 'script-input', matchedField: 'command.redirect' }
    case 'pipe': {
      if (stdin.text === undefined) return fromInput
      return found(judge(stdin.text))
    }
    case 'text':
      return (
        found(judge(stdin.text)) ??
        (stdin.dynamic ? { ruleId: 'unreadable-sql', matchedField: ARGUMENTS } : undefined)
      )
  }
}

function judgeWord(
  word: Word | undefined,
  judge: Judge,
  command: SimpleCommand,
): Finding | undefined {
  if (word === undefined) return { ruleId: 'unreadable-sql', matchedField: ARGUMENTS }
  const hazard = judge(word.text)
  const replaced = command.openEnded && word.text.includes('{}')
  return found(hazard ?? (word.dynamic || replaced ? 'unreadable' : undefined))
}

function found(hazard: SqlHazard | undefined): Finding | undefined {
  return hazard && { ruleId: ruleOfHazard[hazard], matchedField: ARGUMENTS }
}

/** Whether this option keeps the client from reading standard input. */
function finishes({ sql, files, shows, startup }: SqlClientTool, name: string): boolean {
  if (shows.includes(name)) return true
  return (sql.includes(name) || files.includes(name)) && !startup?.includes(name)
}

function valuesOf(given: Options, names: readonly string[]): (Word | undefined)[] {
  return given.options.filter(({ name }) => names.includes(name)).map(({ value }) => value)
}

function joined(words: readonly Word[]): Word {
  return {
    text: words.map(({ text }) => text).join(' '),
    dynamic: words.some(({ dynamic }) => dynamic),
    quoted: true,
    produced: words.flatMap(({ produced }) => produced),
  }
}

/** `-psecret` contains its value; `-p` alone has none. */
function withoutPassword(words: readonly Word[]): readonly Word[] {
  return words.filter(({ text }) => !/^-p./.test(text))
}

function withoutPair(words: readonly Word[], name: string): readonly Word[] {
  const at = words.findIndex(({ text }) => text === `-${name}` || text === `--${name}`)
  return at === -1 ? words : [...words.slice(0, at), ...words.slice(at + 3)]
}

function isNothing(file: Word): boolean {
  return file.text === '/dev/null'
}

function isInput(file: Word): boolean {
  return file.text === '-' || file.text === '/dev/stdin'
}

function isLiteral(stdin: Stdin): boolean {
  if (isTaken(stdin)) return false
  return stdin.kind === 'text' || (stdin.kind === 'pipe' && stdin.text !== undefined)
}

function isNo(value: Word | undefined): boolean {
  return value !== undefined && /^(?:false|0|no)$/i.test(value.text)
}
