import type { ProgramCall, Redirect, SimpleCommand, Stdin, Word } from './command.ts'
import { createScope } from './command-constants.ts'
import { runBySubscript, runByVariable, subscripted } from './command-environment.ts'
import { keepWritten, withContent, withContents, writtenFile } from './command-files.ts'
import { forwarded, keepForward, surroundings, takesAll } from './command-forwards.ts'
import { isGlob } from './command-glob.ts'
import { type Nested, nestedIn } from './command-nested.ts'
import { readOptions } from './command-options.ts'
import { knownInput, literalOutput } from './command-output.ts'
import { readProgram } from './command-programs.ts'
import { parseShell } from './command-scan.ts'
import {
  inherited,
  inside,
  limits,
  literal,
  noAssignments,
  noCommands,
  noRedirects,
  noWords,
  type Output,
  type Place,
  passesFunctions,
  type Session,
} from './command-state.ts'
import { lastStep } from './paths.ts'
import { OverCap, spend } from './work.ts'

interface Given {
  readonly assignments: ReadonlyMap<string, Word>
  readonly redirects: readonly Redirect[]
}

const nothingGiven: Given = { assignments: noAssignments, redirects: noRedirects }
const noCalls: readonly ProgramCall[] = []

/** Records a command and all commands that it runs; returns its known output. */
export function runCommand(said: readonly Word[], place: Place, given = nothingGiven): Output {
  const { session } = place
  let length = 0
  for (const { text } of said) length += text.length
  spend(8 + 2 * said.length + (length >> 3))
  const words = session.files === undefined ? said : withContents(said, session)
  const [name] = words
  const executable = name === undefined ? '' : executableName(name)
  const rest = words.slice(1)
  const program = readProgram(executable, rest, place.stdin)
  const command: SimpleCommand = {
    executable,
    name,
    words: rest,
    assignments: given.assignments,
    redirects: given.redirects,
    stdin: place.stdin,
    nesting: place.nesting,
    openEnded: place.openEnded,
    calls: program?.calls ?? noCalls,
  }
  session.commands.push(command)
  // `$(< file)` gives the file's text.
  if (name === undefined) {
    if (place.stdin.kind === 'file') return undefined
    const reads = given.redirects.some(({ operator }) => operator === '<')
    return reads ? knownInput(place.stdin) : ''
  }

  if (session.defining !== undefined) keepForward(session, session.defining, words, command)
  const forwards = session.forwards?.get(executable)
  if (
    forwards !== undefined &&
    !passesFunctions(place.nesting) &&
    !place.nesting.includes(executable)
  ) {
    // Limited, because functions that call each other branch exponentially.
    spend(128 * forwards.length)
    // Single arguments are followed one call deep, because helpers that call helpers multiply.
    const deep = place.nesting.some((by) => session.forwards?.has(by))
    for (const each of forwards) {
      if (deep && !takesAll(each.words)) continue
      each.calls.add(command)
      const argv = forwarded(each.words, rest)
      const { stdin, ...others } = surroundings(each, command)
      const inner = inside(place, executable, { stdin })
      // Functions that are passed as arguments are read at the call.
      const by = passesFunctions(each.command.nesting) ? each.command.nesting.at(-1) : undefined
      const at = by === undefined ? inner : inside(inner, by)
      if (argv.length > 0) runCommand(argv, at, others)
    }
  }
  keepMeanings(command, place)
  let output = place.captured ? literalOutput(command) : undefined
  if (subscripted.has(executable)) runAll(runBySubscript(rest), executable, place)
  const copied =
    session.files !== undefined && name.text.includes('/')
      ? writtenFile(session, name.text)?.program
      : undefined
  if (copied !== undefined) runAll([{ argv: [literal(copied), ...rest] }], name.text, place)
  for (const nested of nestedIn(command, session)) {
    const written = runNested(nested, executable, given, place)
    if (nested.passesOutput) output = written
  }
  if (program !== undefined) {
    for (const text of program.texts)
      runText({ text: literal(text), lenient: true }, executable, place)
    const fed: Place = { ...place, stdin: { kind: 'pipe', producers: noCommands, text: undefined } }
    for (const text of program.fed) runText({ text: literal(text), lenient: true }, executable, fed)
    for (const argv of program.argvs) {
      const inner = inside(place, executable, { openEnded: false })
      runCommand(argv, inner)
    }
  }
  return output
}

/** Tracks changes for later commands: aliases, arguments, files. */
function keepMeanings(command: SimpleCommand, place: Place): void {
  const { executable, words } = command
  const { session, scope } = place
  switch (executable) {
    case 'alias':
      for (const { text } of words) {
        const equals = text.indexOf('=')
        if (equals > 0) keepAlias(session, text.slice(0, equals), text.slice(equals + 1))
      }
      return
    case 'hash': {
      const read = readOptions(words, { short: 'p' })
      const path = read.value('-p')
      const [name] = read.operands
      if (path !== undefined && name !== undefined) keepAlias(session, name.text, path.text)
      return
    }
    case 'set': {
      const given = argumentsOfSet(words)
      if (given !== undefined) scope.setArguments(given)
      return
    }
    case 'shift': {
      const known = scope.lookup('@', () => noWords)
      const by = Number(words[0]?.text ?? 1)
      scope.setArguments(known && by >= 0 ? known.slice(by) : undefined)
      return
    }
    case 'export':
    case 'declare':
    case 'typeset':
    case 'readonly':
    case 'local':
      for (const word of words) {
        const equals = word.text.indexOf('=')
        if (equals < 1) continue
        const value = { ...word, text: word.text.slice(equals + 1) }
        runAll(runByVariable(word.text.slice(0, equals), value), executable, place)
      }
      return
    default:
      keepWritten(session, command)
  }
}

export function keepAlias(session: Session, name: string, meaning: string): void {
  session.aliases ??= new Map()
  session.aliases.set(name, meaning)
}

/** The arguments of `set -- a b` and `set a b`; `undefined` if it only changes settings. */
function argumentsOfSet(words: readonly Word[]): readonly Word[] | undefined {
  for (let at = 0; at < words.length; at++) {
    const text = words[at]?.text ?? ''
    if (text === '--') return words.slice(at + 1)
    if (/^[-+]\w*o$/.test(text)) at++
    else if (!/^[-+]/.test(text)) return words.slice(at)
  }
  return undefined
}

/** Reads the commands that run because of these variables' values. */
export function runVariables(assignments: ReadonlyMap<string, Word>, place: Place): void {
  for (const [name, value] of assignments) {
    const known = place.session.files === undefined ? value : withContent(value, place.session)
    runAll(runByVariable(name, known), name, place)
  }
}

export function runAll(all: readonly Nested[], by: string, place: Place): void {
  for (const nested of all) runNested(nested, by, nothingGiven, place)
}

/** The command of an `alias`: not in bash, but dash and zsh expand it. */
export function runAlias(name: string, words: readonly Word[], place: Place, given: Given): void {
  const text = place.session.aliases?.get(name)
  if (text === undefined) return
  spend(text.length)
  const by = `alias ${name}`
  if (place.nesting.includes(by)) return
  const [first = '', ...others] = text.trim().split(/ +/)
  if (/^[\w./:@%+, -]+$/.test(text)) {
    const argv = [first, ...others].map(literal).concat(words.slice(1))
    runNested({ argv }, by, given, place)
    runAlias(first, argv, inside(place, by), given)
    return
  }
  const rest = words.slice(1).map((word) => {
    return word.dynamic ? word.text : `'${word.text.replaceAll("'", "'\\''")}'`
  })
  runNested({ text: literal([text, ...rest].join(' ')), lenient: true }, by, given, place)
}

function runNested(nested: Nested, by: string, given: Given, place: Place): Output {
  if (nested.text !== undefined) return runText({ ...nested, text: nested.text }, by, place)
  if (nested.assignments !== undefined) runVariables(nested.assignments, place)
  const stdin: Stdin = nested.ownStdin ? inherited : place.stdin
  const openEnded = nested.openEnded ? 'appended' : place.openEnded
  const inner = inside(place, by, { stdin, openEnded })
  if (nested.argv === undefined || nested.argv.length === 0) return undefined
  // The wrapper has the redirects; the command that it runs has the same environment.
  const assignments =
    nested.assignments === undefined
      ? given.assignments
      : new Map([...given.assignments, ...nested.assignments])
  return runCommand(nested.argv, inner, { assignments, redirects: noRedirects })
}

/** A command line that each shell splits into the same words need not be parsed. */
const plainWords = /^[\w./@%+,:-]+(?: [\w./@%+,:=-]+)*$/

function runText(nested: Nested & { text: Word }, by: string, place: Place): Output {
  const { session } = place
  const { text } = nested.text
  if (nested.lenient && !nested.text.dynamic && plainWords.test(text)) {
    const { text: _, ...others } = nested
    return runNested({ ...others, argv: text.split(' ').map(literal) }, by, nothingGiven, place)
  }
  if (++session.reparses > limits.reparses) throw new OverCap('too_many')
  const within = place.openEnded === false ? false : 'within'
  const openEnded = nested.openEnded ? 'appended' : within
  const stdin = nested.takesStdin ? taken(place.stdin) : place.stdin
  const inner = inside(place, by, { stdin, openEnded })
  const before = session.broken
  const unparsed = session.unparsed.length
  const script = parseShell(text)
  const scope = createScope(script, text, place.scope, nested.positional)
  const output = session.interpreter.walkScript(script, text, { ...inner, scope })
  // Text that may not be for a shell need not parse.
  if (nested.lenient) {
    session.broken = before
    session.unparsed.length = unparsed
  }
  return output
}

function taken(stdin: Stdin): Stdin {
  return stdin.kind === 'pipe' || stdin.kind === 'text' ? { ...stdin, taken: true } : stdin
}

/** `/usr/bin/RM.exe` is `rm`, `gcloud.cmd` is `gcloud`; a name with an unknown end is unknown. */
function executableName(name: Word): string {
  const { text } = name
  if (/^[a-z][a-z0-9_-]*$/.test(text)) return text
  if (isGlob(name)) return ''
  let base = text.slice(name.dynamic ? lastStep(text) : text.lastIndexOf('/') + 1)
  if (name.dynamic) {
    if (name.produced.length > 0 && /[`)]\s*$/.test(text)) return ''
    if (base.includes('$') || base.includes('`')) return ''
  }
  base = base.trim().toLowerCase()
  return /\.(?:exe|cmd)$/.test(base) ? base.slice(base.lastIndexOf('\\') + 1, -4) : base
}
