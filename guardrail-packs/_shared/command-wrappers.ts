import type { SimpleCommand, Word } from './command.ts'
import type { Nested } from './command-nested.ts'
import { type Options, type OptionTable, readOptions } from './command-options.ts'
import { joined, literal } from './command-state.ts'
import { wordSet } from './word-lists.ts'
import type { Wrapper } from './wrapper.ts'
import { wrappers } from './wrapper-table.ts'

/** What a wrapper of the table runs; `undefined` for other commands. */
export function nestedInWrapper(command: SimpleCommand): readonly Nested[] | undefined {
  const wrapper = wrappers.get(command.executable)
  return wrapper && unwrap(wrapper, command.words, command)
}

const empty: OptionTable = {}

function unwrap(
  wrapper: Wrapper,
  words: readonly Word[],
  command: SimpleCommand,
): readonly Nested[] {
  const nested: Nested[] = []
  const table = wrapper.options ?? empty
  const { instead } = wrapper
  if (instead && readOptions(words, { ...table, leading: true }).has(...instead.options))
    return unwrap(instead.wrapper, words, command)
  let read = readOptions(words, wrapper.scattered ? table : { ...table, leading: true })
  if (wrapper.inert?.some((name) => read.has(name)) && !mixedLookup(wrapper, words)) return nested
  for (const option of read.options) {
    if (option.value !== undefined && wrapper.text?.includes(option.name))
      nested.push({ text: cutOut(option.value, wrapper), lenient: wrapper.lenient ?? false })
  }
  const follows = wrapper.rest === undefined ? -1 : indexOfRest(words, wrapper.rest)
  if (follows !== -1) {
    nested.push(...followed(words.slice(follows)))
    if (follows < words.length) return nested
  }

  let rest = read.operands
  if (wrapper.subcommands !== undefined) {
    // An unknown option's value may come before the subcommand.
    const skipped = wrapper.options === undefined && words[0]?.text.startsWith('-')
    if (skipped && wrapper.subcommands[rest[0]?.text ?? ''] === undefined) rest = rest.slice(1)
    const sub = wrapper.subcommands[rest[0]?.text ?? '']
    return sub === undefined ? nested : [...nested, ...unwrap(sub, rest.slice(1), command)]
  }
  let assignments: Map<string, Word> | undefined
  if (wrapper.assignments) {
    if (rest[0]?.text === '-') rest = rest.slice(1)
    let assigned = 0
    for (const word of rest) {
      if (assigned < rest.length - 1 && printsAssignments(word)) {
        assigned++
        continue
      }
      if (!/^([A-Za-z_]\w*(?:%%|\(\))?|\$\{?\w+\}?)\+?=/.test(word.text)) break
      const [name = '', value] = splitAssignment(word)
      assignments ??= new Map()
      assignments.set(name, value)
      assigned++
    }
    rest = rest.slice(assigned)
    // sudo continues to read options after them.
    if (assignments !== undefined && rest[0]?.text.startsWith('-')) {
      read = readOptions(rest, { ...table, leading: true })
      rest = read.operands
    }
  }
  if (wrapper.ssh) {
    const given = read.dashesAfter === undefined ? [] : rest.slice(read.dashesAfter)
    return nested.length > 0 ? nested : [{ argv: [literal('ssh'), literal('host'), ...given] }]
  }
  if (wrapper.user) rest = rest.slice(rest[0]?.text === '-' ? 2 : 1)
  else if (wrapper.scattered && read.dashesAfter !== undefined) rest = rest.slice(read.dashesAfter)
  else rest = rest.slice(wrapper.operands ?? 0)
  if (rest[0]?.text === '--') rest = rest.slice(1)
  const program = wrapper.program === undefined ? undefined : read.value(wrapper.program)
  if (program !== undefined && program.text !== '') rest = [program, ...rest]
  // Commands do not begin with a dash, so these are options after operands, as in aws-vault.
  const next = rest[0]?.text ?? ''
  if (/^-./.test(next) && !wrapper.text?.includes(next))
    rest = readOptions(rest, { ...table, leading: true }).operands
  const appended = command.openEnded === 'appended'
  const [first, second] = rest
  if (first !== undefined && wrapper.text?.includes(first.text)) {
    return second === undefined ? nested : [...nested, { text: second }]
  }
  if (first === undefined) {
    // Then the command is unknown.
    if (nested.length === 0 && !appended && startsShell(wrapper, read))
      nested.push({ argv: [literal('sh')] })
    return nested
  }
  if (wrapper.user && wrapper.noCommand && nested.length === 0)
    return [{ argv: [literal('sh'), ...rest] }]
  if (wrapper.noCommand) return nested
  if (wrapper.joins)
    nested.push({ text: joined(rest), lenient: rest.length > 1, openEnded: appended })
  if (!wrapper.joins || (rest.length > 1 && wrapper.joins !== 'always')) {
    const run = { argv: rest, passesOutput: !wrapper.joins }
    nested.push(assignments === undefined ? run : { ...run, assignments })
  }
  return nested
}

function cutOut(value: Word, { cut, trim }: Wrapper): Word {
  if (cut === undefined || !cut.test(value.text)) return value
  const text = value.text.replace(cut, '')
  return { ...value, text: trim === undefined ? text : text.replace(trim, '') }
}

function followed(words: readonly Word[]): readonly Nested[] {
  const [only] = words
  const isText = words.length === 1 && only !== undefined && /\s/.test(only.text)
  return isText ? [{ text: only, lenient: true }] : [{ argv: words }]
}

/** Where the command begins after one of the options. */
function indexOfRest(words: readonly Word[], options: readonly string[]): number {
  return words.findIndex((_, at) => options.includes(words[at - 1]?.text ?? ''))
}

const settingReaders = wordSet('awk cat cut egrep envsubst grep sed sort tr xargs')

/** `env $(grep -v '^#' .env | xargs) npm start`: settings from a file. */
function printsAssignments({ produced, quoted, text }: Word): boolean {
  return (
    !quoted &&
    produced.length > 0 &&
    /^[$`]/.test(text) &&
    produced.every(({ name, executable }) => name === undefined || settingReaders.has(executable))
  )
}

function startsShell({ shell }: Wrapper, read: Options): boolean {
  return typeof shell === 'object' ? read.has(...shell) : shell === true
}

/** `command -v git` only asks; with other options in the cluster it may run. */
function mixedLookup(wrapper: Wrapper, words: readonly Word[]): boolean {
  if (!wrapper.lookup || /^-[vV]$/.test(words[0]?.text ?? '')) return false
  const { operands } = readOptions(words, { leading: true })
  return operands.slice(1).some((word) => word.text.startsWith('-'))
}

function splitAssignment(word: Word): [string, Word] {
  const equals = word.text.indexOf('=')
  return [word.text.slice(0, equals), { ...word, text: word.text.slice(equals + 1) }]
}
