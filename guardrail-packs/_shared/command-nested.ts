import type { SimpleCommand, Word } from './command.ts'
import { writtenFile } from './command-files.ts'
import { type OptionTable, readOptions } from './command-options.ts'
import { isTaken, knownInput } from './command-output.ts'
import { nestedInSpecial } from './command-runners.ts'
import { packageScripts, recipes } from './command-scripts.ts'
import { specialRunners } from './command-special.ts'
import { joined, literal, type Session } from './command-state.ts'
import { nestedInUnknown } from './command-unknown.ts'
import { nestedInWrapper } from './command-wrappers.ts'
import { nestedInPowerShell } from './powershell.ts'
import { wordSet } from './word-lists.ts'
import { spend } from './work.ts'

/** What a command runs: shell text, or another command. */
export interface Nested {
  readonly text?: Word
  /** `$0`, `$1`, … of the text. */
  readonly positional?: readonly Word[]
  /** The text may not be for a shell, so it need not parse. */
  readonly lenient?: boolean
  readonly argv?: readonly Word[]
  readonly assignments?: ReadonlyMap<string, Word>
  readonly openEnded?: boolean
  /** Its standard input is not the wrapper's. */
  readonly ownStdin?: boolean
  /** The text came from standard input. */
  readonly takesStdin?: boolean
  /** Its output is the output of the whole command. */
  readonly passesOutput?: boolean
}

export const shells = wordSet(
  'ash bash csh dash elvish fish hush ksh ksh93 mksh murex nu osh oksh posh rbash sh tcsh xonsh yash ysh zsh',
)
/** A text of these need not parse. */
const otherGrammars = wordSet('elvish fish murex nu xonsh ysh csh tcsh')

export const standardInput: ReadonlySet<string> = new Set([
  '-',
  '/dev/stdin',
  '/dev/fd/0',
  '/proc/self/fd/0',
])

export function nestedIn(command: SimpleCommand, session: Session): readonly Nested[] {
  const { executable, name } = command
  if (name?.content !== undefined && name.text.includes('/')) return runFile(name.content, command)
  if (isShell(command)) return nestedInShell(command)
  switch (executable) {
    case '':
      return mayVanish(command.name) || mayBeAssignment(command) ? [{ argv: command.words }] : none
    case 'eval':
      return command.words.length === 0
        ? none
        : [{ text: joined(evaluated(command)), passesOutput: true }]
    case 'source':
    case '.':
      return sourced(command)
    case 'trap': {
      const { operands } = readOptions(command.words, {})
      const [action] = operands
      const inert = operands.length < 2 || action === undefined || action.text === '-'
      return inert ? none : [{ text: action }]
    }
    case 'alias':
      return command.words.flatMap((word) => {
        const equals = word.text.indexOf('=')
        if (equals < 1) return []
        return [{ text: { ...word, text: word.text.slice(equals + 1) } }]
      })
    case 'at':
    case 'batch':
      return fromStdin(command)
    case 'pwsh':
    case 'powershell':
      return nestedInPowerShell(command)
    case 'cmd': {
      const at = command.words.findIndex((word) => /^[-/][ck]$/i.test(word.text))
      return at === -1 ? none : [{ text: joined(command.words.slice(at + 1)), lenient: true }]
    }
    default:
      return nestedInProgram(command, session)
  }
}

const none: readonly Nested[] = []

function nestedInProgram(command: SimpleCommand, session: Session): readonly Nested[] {
  const special = nestedInSpecial(command, session)
  if (special !== undefined) return special
  const own = specialRunners.get(command.executable)?.(command)
  const wrapped = moduleOf(command) ?? nestedInWrapper(command)
  if (own === undefined && wrapped === undefined) return nestedInUnknown(command)
  if (own === undefined && session.files === undefined) return wrapped ?? none
  spend(16)
  const shown = session.files === undefined ? none : runByProject(command, session)
  return [...(own ?? none), ...(wrapped ?? none), ...shown]
}

const modules: Readonly<Record<string, string>> = { awscli: 'aws' }

/** `python -m awscli s3 ls`: a module that is a program. */
function moduleOf({ executable, words }: SimpleCommand): readonly Nested[] | undefined {
  if (!/^(?:python|pypy|node|php|ruby)[\d.]*$/.test(executable)) return undefined
  const [file] = words
  // `php artisan migrate`, `node node_modules/.bin/tsc`: a program by its file.
  if (file !== undefined && !file.text.startsWith('-') && file.content === undefined)
    return [{ argv: words }]
  if (!executable.startsWith('py')) return undefined
  const at = words.findIndex(({ text }) => text === '-m')
  const name = words[at + 1]
  if (at === -1 || name === undefined) return undefined
  const program = modules[name.text] ?? name.text.replace(/\.__main__$/, '').toLowerCase()
  const given = words.slice(at + 2)
  if (program === 'timeit')
    return given.map((code) => ({ argv: [literal(executable), literal('-c'), code] }))
  return [{ argv: [literal(program), ...given] }]
}

/** A file that the line has written is run: by the shell, or by the program in its first line. */
function runFile(text: string, { words }: SimpleCommand): readonly Nested[] {
  const interpreter = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/.exec(text)?.[1]
  const program = interpreter?.slice(interpreter.lastIndexOf('/') + 1)
  if (program === undefined || shells.has(program))
    return [{ text: literal(text), positional: [literal('sh'), ...words], passesOutput: true }]
  return [{ argv: [literal(program), { ...literal('file'), content: text }, ...words] }]
}

/** What these programs run because of a project file that the line has written. */
function runByProject({ executable }: SimpleCommand, session: Session): readonly Nested[] {
  const text = (path: string) => writtenFile(session, path)?.text
  switch (executable) {
    case 'make':
    case 'gmake':
      return recipes(text('Makefile') ?? text('makefile') ?? text('GNUmakefile') ?? '')
    case 'npm':
    case 'pnpm':
    case 'yarn':
    case 'bun':
      return packageScripts(text('package.json') ?? '')
    case 'just': {
      const recipe = text('justfile') ?? text('Justfile') ?? ''
      return recipes(recipe.replace(/^ +/gm, '\t'))
    }
    default:
      return none
  }
}

/** `$SUDO rm x`: an empty variable is not a word, so the command follows it. */
function mayVanish(name: Word | undefined): boolean {
  return name?.dynamic === true && !name.quoted && /^(\$(\w+|\{[^}]*\}))?$/.test(name.text)
}

/** `eval "$name=value"`: the text begins with a name after the outer shell has expanded it. */
export function mayBeAssignment({ name, nesting }: SimpleCommand): boolean {
  const text = name?.text ?? ''
  return /^(\w|\$\w|\$\{\w+\})+(\[[^\]]*\])?\+?=/.test(text) && nesting.includes('eval')
}

/** A shell by name, or by the variable with the user's shell. */
export function isShell(command: SimpleCommand): boolean {
  if (shells.has(command.executable)) return true
  return command.executable === '' && /^\$\{?(SHELL|BASH)\}?$/.test(command.name?.text ?? '')
}

/** How a shell gets its commands. */
export type ShellInput =
  | { readonly kind: 'text'; readonly text: Word; readonly positional: readonly Word[] }
  | { readonly kind: 'stdin' }
  | { readonly kind: 'file'; readonly file: Word }
  /** `-c` without a text. */
  | { readonly kind: 'missing' }

const shellOptions: OptionTable = {
  short: 'oO',
  values: ['rcfile', 'init-file', 'command', 'commands', 'init-command'],
  leading: true,
}

/**
 * `bash -n` reads its text without running it, unless it is interactive or a later option resets
 * this.
 */
export function onlyChecks({ words }: SimpleCommand): boolean {
  const { options, has } = readOptions(words, shellOptions)
  const checks = options.some(
    ({ name, value }) =>
      /^(-n|--no-execute)$/.test(name) || (name === '-o' && value?.text === 'noexec'),
  )
  return checks && !has('-i') && !words.some(({ text }) => text.startsWith('+'))
}

export function shellInput(command: SimpleCommand): ShellInput {
  // `+x`, and `+o name`.
  const words = command.words.filter(
    ({ text }, at, all) =>
      !/^\+[a-zA-Z]*$/.test(text) && !/^\+[a-zA-Z]*[oO]$/.test(all[at - 1]?.text ?? ''),
  )
  const read = readOptions(words, shellOptions)
  const long = read.value('--command', '--commands')
  if (long !== undefined) return { kind: 'text', text: long, positional: read.operands }
  if (read.has('-c')) {
    const [text] = read.operands
    if (text === undefined) return { kind: 'missing' }
    return { kind: 'text', text, positional: read.operands.slice(1) }
  }
  const [file] = read.operands
  if (file?.dynamic && !file.quoted) {
    // Options in a variable: `bash $flags -c text`.
    const at = words.findIndex((word) => /^-[a-z]*c[a-z]*$/.test(word.text))
    const text = words[at + 1]
    if (at !== -1 && text !== undefined) return { kind: 'text', text, positional: [] }
  }
  if (file === undefined || read.has('-s') || standardInput.has(file.text)) return { kind: 'stdin' }
  return { kind: 'file', file }
}

function nestedInShell(command: SimpleCommand): readonly Nested[] {
  if (onlyChecks(command)) return none
  const input = shellInput(command)
  const startFile = readOptions(command.words, shellOptions).value('--rcfile', '--init-file')
  if (startFile?.content !== undefined)
    return [{ text: literal(startFile.content) }, ...nestedInInput(command, input)]
  return nestedInInput(command, input)
}

function nestedInInput(command: SimpleCommand, input: ShellInput): readonly Nested[] {
  switch (input.kind) {
    case 'text': {
      // `xargs sh -c 'rm "$@"' _`: the arguments from xargs follow the last one.
      const open = command.openEnded === 'appended' && input.positional.length > 0
      const positional = open ? [...input.positional, literal('{}')] : input.positional
      // The `$*` of `sh -c "$*"` is the outer shell's.
      const lenient = otherGrammars.has(command.executable)
      if (positional.length === 0 && input.text.dynamic)
        return [{ text: input.text, passesOutput: true, lenient }]
      return [{ text: input.text, positional, passesOutput: true, lenient }]
    }
    case 'stdin':
      return fromStdin(command)
    case 'file':
      return input.file.content === undefined ? none : [{ text: literal(input.file.content) }]
    case 'missing':
      return none
  }
}

/** The script that a command reads from standard input, if the line shows it. */
function fromStdin(command: SimpleCommand): readonly Nested[] {
  const { stdin } = command
  const known = knownInput(stdin)
  if (known !== undefined) return [{ text: literal(known), takesStdin: true }]
  if (stdin.kind !== 'text' || isTaken(stdin)) return none
  const { text, dynamic, produced } = stdin
  return [{ text: { text, dynamic, produced, quoted: true }, takesStdin: true }]
}

function sourced(command: SimpleCommand): readonly Nested[] {
  const [file] = command.words
  if (file === undefined) return none
  if (file.content !== undefined) return [{ text: literal(file.content) }]
  return standardInput.has(file.text) ? fromStdin(command) : none
}

function evaluated(command: SimpleCommand): readonly Word[] {
  return command.words[0]?.text === '--' ? command.words.slice(1) : command.words
}
