import type { GuardInput } from 'model-gateway/guardrail'
import { readArgv, readText } from './command-reader.ts'
import { type ToolCommand, toolCommands } from './tool-commands.ts'
import { type Cap, working } from './work.ts'

/** One word of a command as the shell would pass it on. */
export interface Word {
  /** Quotes and escapes removed; what only a run can know stands as it is written (`$x`, `$(date)`). */
  readonly text: string
  /** A part of it is known only at run time. */
  readonly dynamic: boolean
  /** A part of it was quoted or escaped. */
  readonly quoted: boolean
  /** The commands whose output is part of it: `$(…)`, backticks, `<(…)`. They are also read as commands. */
  readonly produced: readonly SimpleCommand[]
  /** What is read from `<(…)`, or from a file that the line has written, when it is a literal. */
  readonly content?: string
  /** It names a file that the line downloads. */
  readonly fetched?: boolean
}

/**
 * xargs, parallel and `find -exec` run a command for things that nobody knows: `appended` to its words, or
 * `within` the text of a shell, where they are `$1` or stand in the place of `{}`.
 */
export type OpenEnded = 'appended' | 'within' | false

export interface Redirect {
  readonly operator: '>' | '>>' | '>|' | '<>' | '<' | '<&' | '>&' | '&>' | '&>>'
  readonly descriptor: number | undefined
  readonly target: Word
}

/**
 * Where a command's standard input comes from. `taken`: a shell around the command reads the text as
 * its script, and the command only what that leaves.
 */
export type Stdin =
  /** Nobody said: the terminal, or what the whole line was given. */
  | { readonly kind: 'inherited' }
  /** A pipe. `text` is what is written to it, when that is a literal. */
  | {
      readonly kind: 'pipe'
      readonly producers: readonly SimpleCommand[]
      readonly text: string | undefined
      readonly taken?: true
    }
  /** A heredoc or here-string; `dynamic` when an expansion in it is unknown. */
  | {
      readonly kind: 'text'
      readonly text: string
      readonly dynamic: boolean
      readonly produced: readonly SimpleCommand[]
      readonly taken?: true
    }
  | { readonly kind: 'file'; readonly source: Word }

/** A call in a program that an interpreter was handed: `shutil.rmtree('/srv')`. */
export interface ProgramCall {
  /** As written, with its receiver: `shutil.rmtree`, `fs.rmSync`, `os.system`. */
  readonly name: string
  /** The source between its parentheses. */
  readonly arguments: string
  /** The string literals in it. */
  readonly strings: readonly string[]
}

/** One command to be run. A wrapped command appears twice: as its wrapper (`sudo`) and as itself. */
export interface SimpleCommand {
  /** Lower-case base name without `.exe`; empty when it is unknown or there is none. */
  readonly executable: string
  /** The executable as written; absent when there are only redirects. */
  readonly name: Word | undefined
  /** What follows the executable. */
  readonly words: readonly Word[]
  /** `NAME=value` before the command, or given to `env`. */
  readonly assignments: ReadonlyMap<string, Word>
  readonly redirects: readonly Redirect[]
  readonly stdin: Stdin
  /** What brought it about, outermost first: `$()`, `sudo`, `xargs`, `bash`, `function f`, `&`. */
  readonly nesting: readonly string[]
  readonly openEnded: OpenEnded
  /** Of an interpreter that is handed its program: the calls in it. */
  readonly calls: readonly ProgramCall[]
}

export type Unreadable = Cap | 'syntax'

export interface CommandReading {
  /** In the order in which the shell meets them; a command stands before what it wraps or nests. */
  readonly commands: readonly SimpleCommand[]
  /** Set when not everything could be read; `syntax` means that `commands` is a best effort. */
  readonly unreadable: Unreadable | undefined
  /** Whether it stands in a function and was read again, with what it is given, wherever that is called. */
  isReadAtCalls(command: SimpleCommand): boolean
  /** Whether one of the names stands anywhere in what did not parse: the conservative scan of it. */
  mentions(executables: ReadonlySet<string>): boolean
}

const known = new WeakMap<GuardInput, { readonly reading: CommandReading | undefined }>()

/**
 * The commands in an input, read once however many packs ask: a command, or what a tool call comes to.
 * `undefined` when the input holds no command. Never throws.
 */
export function readCommands(input: GuardInput): CommandReading | undefined {
  const before = known.get(input)
  if (before !== undefined) return before.reading
  const readings = working(input, () =>
    commandsOf(input).map(({ command, exact }) => readOne(command, exact)),
  )
  const [first, ...others] = readings
  const reading = first && others.length > 0 ? together(readings) : first
  known.set(input, { reading })
  return reading
}

function readOne(command: string | readonly string[], exact: boolean): CommandReading {
  const reading = typeof command === 'string' ? readText(command) : readArgv(command)
  // What only may be a command need not parse.
  return exact || reading.unreadable !== 'syntax' ? reading : { ...reading, unreadable: undefined }
}

/** Several commands of one input as one reading. */
function together(readings: readonly CommandReading[]): CommandReading {
  const reasons = readings.map(({ unreadable }) => unreadable)
  return {
    commands: readings.flatMap(({ commands }) => commands),
    unreadable:
      reasons.find((reason) => reason !== undefined && reason !== 'syntax') ??
      reasons.find((reason) => reason !== undefined),
    isReadAtCalls: (command) => readings.some((each) => each.isReadAtCalls(command)),
    mentions: (executables) =>
      readings.some((each) => each.unreadable === 'syntax' && each.mentions(executables)),
  }
}

/** The commands in an input, each as text or as an argument vector. */
export function commandsOf(input: GuardInput): readonly ToolCommand[] {
  return input.kind === 'command' ? [{ command: input.command, exact: true }] : toolCommands(input)
}
