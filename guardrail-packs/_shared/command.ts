import type { GuardInput } from 'model-gateway/guardrail'
import { readArgv, readText } from './command-reader.ts'
import { type ToolCommand, toolCommands } from './tool-commands.ts'
import { type Cap, working } from './work.ts'

/** One word of a command, as the shell would pass it. */
export interface Word {
  /** Without quotes and escapes; unknown parts are as written (`$x`, `$(date)`). */
  readonly text: string
  /** A part of it is known only at run time. */
  readonly dynamic: boolean
  /** A part of it was quoted or escaped. */
  readonly quoted: boolean
  /**
   * The commands whose output is part of it: `$(…)`, backticks, `<(…)`. They are also read as
   * commands.
   */
  readonly produced: readonly SimpleCommand[]
  /** The content of `<(…)`, or of a file that the line has written, if it is a literal. */
  readonly content?: string
  /** It names a file that the line downloads. */
  readonly fetched?: boolean
}

/**
 * xargs, parallel and `find -exec` run a command with unknown items: `appended` to its words, or
 * `within` the text of a shell, as `$1` or at `{}`.
 */
export type OpenEnded = 'appended' | 'within' | false

export interface Redirect {
  readonly operator: '>' | '>>' | '>|' | '<>' | '<' | '<&' | '>&' | '&>' | '&>>'
  readonly descriptor: number | undefined
  readonly target: Word
}

/**
 * The source of a command's standard input. `taken`: a shell around the command reads the text as
 * its script, and the command only the rest.
 */
export type Stdin =
  /** Not redirected: the terminal, or the input of the whole line. */
  | { readonly kind: 'inherited' }
  /** A pipe. `text` is what is written to it, if it is a literal. */
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

/** A call in a program that an interpreter gets: `shutil.rmtree('/srv')`. */
export interface ProgramCall {
  /** As written, with its receiver: `shutil.rmtree`, `fs.rmSync`, `os.system`. */
  readonly name: string
  /** The source between its parentheses. */
  readonly arguments: string
  /** The string literals in it. */
  readonly strings: readonly string[]
}

/** One command. A wrapped command appears twice: as its wrapper (`sudo`) and as itself. */
export interface SimpleCommand {
  /** Lower-case base name without `.exe`; empty if unknown or missing. */
  readonly executable: string
  /** The executable as written; absent if there are only redirects. */
  readonly name: Word | undefined
  /** The words after the executable. */
  readonly words: readonly Word[]
  /** `NAME=value` before the command, or given to `env`. */
  readonly assignments: ReadonlyMap<string, Word>
  readonly redirects: readonly Redirect[]
  readonly stdin: Stdin
  /** What started it, outermost first: `$()`, `sudo`, `xargs`, `bash`, `function f`, `&`. */
  readonly nesting: readonly string[]
  readonly openEnded: OpenEnded
  /** For an interpreter with a program: the calls in the program. */
  readonly calls: readonly ProgramCall[]
}

export type Unreadable = Cap | 'syntax'

export interface CommandReading {
  /** In the shell's order; a command precedes the commands that it wraps or contains. */
  readonly commands: readonly SimpleCommand[]
  /** Set if something could not be read; with `syntax`, `commands` is incomplete. */
  readonly unreadable: Unreadable | undefined
  /** Whether it is in a function and was read again at each call, with its arguments. */
  isReadAtCalls(command: SimpleCommand): boolean
  /** Whether one of the names is anywhere in the text that did not parse: a conservative scan. */
  mentions(executables: ReadonlySet<string>): boolean
}

const known = new WeakMap<GuardInput, { readonly reading: CommandReading | undefined }>()

/**
 * The commands in an input, read once for all packs: a command, or the commands of a tool call.
 * `undefined` if the input has no command. Never throws.
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
  // Text that may not be a command need not parse.
  return exact || reading.unreadable !== 'syntax' ? reading : { ...reading, unreadable: undefined }
}

/** Merges several commands of one input. */
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
