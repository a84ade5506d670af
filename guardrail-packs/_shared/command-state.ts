import type { Command, ParsedScript } from 'unbash'
import type { OpenEnded, Redirect, SimpleCommand, Stdin, Word } from './command.ts'
import type { Scope } from './command-constants.ts'
import type { WrittenFile } from './command-files.ts'
import type { Forward } from './command-forwards.ts'
import type { Nested } from './command-nested.ts'
import { wordSet } from './word-lists.ts'
import { OverCap, spend } from './work.ts'

/** Limits of one reading in addition to its steps (`work.ts`); above one, the input is uninspectable. */
export const limits = {
  length: 65_536,
  nesting: 64,
  substitutions: 500,
  reparses: 64,
  braces: 256,
} as const

/** The commands of a reading that a part of the text became, beginning with the first. */
export type Spans = Map<Command, { readonly start: number; readonly end: number }>

/** Reads scripts and commands within words and commands; those modules import each other. */
export interface Interpreter {
  /** Reads each command of a script with the source `text`; returns its known output. */
  walkScript(script: ParsedScript, text: string, place: Place): Output
  runAll(all: readonly Nested[], by: string, place: Place): void
}

/** The results and costs of one reading. */
export interface Session {
  readonly interpreter: Interpreter
  readonly commands: SimpleCommand[]
  /** Kept only if the reading is to be shown. */
  readonly spans: Spans | undefined
  substitutions: number
  reparses: number
  /** Whether a text that must parse does not. */
  broken: boolean
  /** The texts that do not parse. */
  readonly unparsed: string[]
  /** The function whose body is being read. */
  defining: string | undefined
  /** By the name of the function. */
  forwards: Map<string, Forward[]> | undefined
  /** Names that `alias` or `hash -p` redefined. */
  aliases: Map<string, string> | undefined
  /** What the line has written so far, by path. */
  files: Map<string, WrittenFile> | undefined
  /** The last parts of these paths. */
  fileNames: Set<string> | undefined
}

/** The place of something in a reading. */
export interface Place {
  readonly session: Session
  readonly scope: Scope
  readonly depth: number
  readonly nesting: readonly string[]
  readonly stdin: Stdin
  readonly openEnded: OpenEnded
  /** Whether the output here is read. */
  readonly captured: boolean
}

/** The start of a reading, with empty results. */
export function startPlace(interpreter: Interpreter, scope: Scope, spans?: Spans): Place {
  return {
    session: {
      interpreter,
      commands: [],
      spans,
      substitutions: 0,
      reparses: 0,
      defining: undefined,
      forwards: undefined,
      aliases: undefined,
      files: undefined,
      fileNames: undefined,
      broken: false,
      unparsed: [],
    },
    scope,
    depth: 0,
    nesting: [],
    stdin: inherited,
    openEnded: false,
    captured: false,
  }
}

/** The known output of a command: a literal, or `undefined`. */
export type Output = string | undefined

export const inherited: Stdin = { kind: 'inherited' }
export const noWords: readonly Word[] = []
export const noCommands: readonly SimpleCommand[] = []
export const noRedirects: readonly Redirect[] = []
export const noAssignments: ReadonlyMap<string, Word> = new Map()

/** A word that is known. */
export function literal(text: string): Word {
  return { text, dynamic: false, quoted: true, produced: noCommands }
}

/** Joins words to one shell text: `eval a b`. */
export function joined(words: readonly Word[]): Word {
  const [first] = words
  if (words.length === 1 && first !== undefined) return first
  spend(2 * words.length)
  return {
    text: words.map((word) => word.text).join(' '),
    dynamic: words.some((word) => word.dynamic),
    quoted: true,
    produced: words.flatMap((word) => word.produced),
  }
}

type Change = Partial<Pick<Place, 'stdin' | 'openEnded' | 'captured'>>

/** One level deeper; throws OverCap above the limit. */
export function inside(place: Place, by: string, change?: Change): Place {
  if (place.depth >= limits.nesting) throw new OverCap('too_deep')
  // The outer names are copied.
  spend(8 + (place.depth >> 2))
  return {
    session: place.session,
    scope: place.scope,
    depth: place.depth + 1,
    nesting: [...place.nesting, by],
    stdin: change?.stdin ?? place.stdin,
    openEnded: change?.openEnded ?? place.openEnded,
    captured: change?.captured ?? place.captured,
  }
}

const passing = wordSet(
  'builtin command doas env exec ionice nice nohup setsid stdbuf sudo timeout',
)

/** `command git`, `builtin cd` and `sudo git` never call the function of that name. */
export function passesFunctions(nesting: readonly string[]): boolean {
  return passing.has(nesting.at(-1) ?? '')
}
