import type { ProgramCall, Redirect, SimpleCommand, Stdin, Word } from './command.ts'
import { createScope } from './command-constants.ts'
import { forwarded, keepForward, surroundings, takesAll } from './command-forwards.ts'
import { isGlob } from './command-glob.ts'
import { type Nested, nestedIn } from './command-nested.ts'
import { literalOutput } from './command-output.ts'
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
  type Output,
  type Place,
  passesFunctions,
  type Session,
} from './command-state.ts'
import { walkScript } from './command-walk.ts'
import { lastStep } from './paths.ts'
import { OverCap, spend } from './work.ts'

interface Given {
  readonly assignments: ReadonlyMap<string, Word>
  readonly redirects: readonly Redirect[]
}

const nothingGiven: Given = { assignments: noAssignments, redirects: noRedirects }
const noCalls: readonly ProgramCall[] = []

/** Records one command and everything that it runs in turn; answers what it is known to write. */
export function runCommand(words: readonly Word[], place: Place, given = nothingGiven): Output {
  const { session } = place
  let length = 0
  for (const { text } of words) length += text.length
  spend(8 + 2 * words.length + (length >> 3))
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
  if (name === undefined) return place.stdin.kind === 'file' ? undefined : ''

  if (session.defining !== undefined) keepForward(session, session.defining, words, command)
  const forwards = session.forwards?.get(executable)
  if (
    forwards !== undefined &&
    !passesFunctions(place.nesting) &&
    !place.nesting.includes(executable)
  ) {
    // Functions that call each other branch out fast.
    spend(128 * forwards.length)
    // What helpers hand on to helpers multiplies: single arguments are followed one call deep.
    const deep = place.nesting.some((by) => session.forwards?.has(by))
    for (const each of forwards) {
      if (deep && !takesAll(each.words)) continue
      each.calls.add(command)
      const argv = forwarded(each.words, rest)
      const { stdin, ...others } = surroundings(each, command)
      const inner = inside(place, executable, { stdin })
      // What passes functions in the function does so at the call.
      const by = passesFunctions(each.command.nesting) ? each.command.nesting.at(-1) : undefined
      const at = by === undefined ? inner : inside(inner, by)
      if (argv.length > 0) runCommand(argv, at, others)
    }
  }
  if (executable === 'alias') keepAliases(session, rest)
  let output = place.captured ? literalOutput(command) : undefined
  for (const nested of nestedIn(command)) {
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

function keepAliases(session: Session, words: readonly Word[]): void {
  for (const { text } of words) {
    const equals = text.indexOf('=')
    if (equals < 1) continue
    session.aliases ??= new Map()
    session.aliases.set(text.slice(0, equals), text.slice(equals + 1))
  }
}

/** What a command is behind `alias`: not in bash, but dash and zsh put the alias in its place. */
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
  const stdin: Stdin = nested.ownStdin ? inherited : place.stdin
  const openEnded = nested.openEnded ? 'appended' : place.openEnded
  const inner = inside(place, by, { stdin, openEnded })
  if (nested.argv === undefined || nested.argv.length === 0) return undefined
  // The wrapper bears the redirects; what it runs sees the same environment.
  const assignments =
    nested.assignments === undefined
      ? given.assignments
      : new Map([...given.assignments, ...nested.assignments])
  return runCommand(nested.argv, inner, { assignments, redirects: noRedirects })
}

function runText(nested: Nested & { text: Word }, by: string, place: Place): Output {
  const { session } = place
  const { text } = nested.text
  if (++session.reparses > limits.reparses) throw new OverCap('too_many')
  const within = place.openEnded === false ? false : 'within'
  const openEnded = nested.openEnded ? 'appended' : within
  const stdin = nested.takesStdin ? taken(place.stdin) : place.stdin
  const inner = inside(place, by, { stdin, openEnded })
  const before = session.broken
  const unparsed = session.unparsed.length
  const script = parseShell(text)
  const scope = createScope(script, text, place.scope, nested.positional)
  const output = walkScript(script, text, { ...inner, scope })
  // Text that is only perhaps a shell's need not parse.
  if (nested.lenient) {
    session.broken = before
    session.unparsed.length = unparsed
  }
  return output
}

function taken(stdin: Stdin): Stdin {
  return stdin.kind === 'pipe' || stdin.kind === 'text' ? { ...stdin, taken: true } : stdin
}

/** `/usr/bin/RM.exe` is `rm`, `gcloud.cmd` is `gcloud`; what ends in an unknown part is unknown. */
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
