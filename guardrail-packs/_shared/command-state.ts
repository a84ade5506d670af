import type { Command } from 'unbash'
import type { OpenEnded, Redirect, SimpleCommand, Stdin, Unreadable, Word } from './command.ts'
import type { Scope } from './command-constants.ts'
import type { Forward } from './command-forwards.ts'
import { wordSet } from './word-lists.ts'

/** What one reading may cost; over it, the input is uninspectable. */
export const limits = {
  length: 65_536,
  nesting: 64,
  substitutions: 500,
  reparses: 64,
  braces: 256,
  /** Words read, expanded and read again; eight characters of text count as one. */
  work: 300_000,
} as const

/** Which commands of a reading a piece of the text became, the first of them itself. */
export type Spans = Map<Command, { readonly start: number; readonly end: number }>

/** What one reading has gathered and spent. */
export interface Session {
  readonly commands: SimpleCommand[]
  /** Kept only for whoever wants to see how the text was read. */
  readonly spans: Spans | undefined
  substitutions: number
  reparses: number
  work: number
  unreadable: Unreadable | undefined
  /** The texts that do not parse. */
  readonly unparsed: string[]
  /** The function whose body is being read. */
  defining: string | undefined
  /** By the name of the function. */
  forwards: Map<string, Forward[]> | undefined
  /** Names that were given another meaning with `alias`. */
  aliases: Map<string, string> | undefined
}

/** Where in a reading something stands. */
export interface Place {
  readonly session: Session
  readonly scope: Scope
  readonly depth: number
  readonly nesting: readonly string[]
  readonly stdin: Stdin
  readonly openEnded: OpenEnded
  /** Whether something reads what is written here. */
  readonly captured: boolean
}

/** Where a reading begins, with nothing gathered yet. */
export function startPlace(scope: Scope, spans?: Spans): Place {
  return {
    session: {
      commands: [],
      spans,
      substitutions: 0,
      reparses: 0,
      defining: undefined,
      forwards: undefined,
      aliases: undefined,
      work: 0,
      unreadable: undefined,
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

/** What a command is known to write: a literal, or `undefined`. */
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

/** Several words as the one text that a shell is given: `eval a b`. */
export function joined(words: readonly Word[]): Word {
  const [first] = words
  if (words.length === 1 && first !== undefined) return first
  return {
    text: words.map((word) => word.text).join(' '),
    dynamic: words.some((word) => word.dynamic),
    quoted: true,
    produced: words.flatMap((word) => word.produced),
  }
}

type Change = Partial<Pick<Place, 'stdin' | 'openEnded' | 'captured'>>

/** One level further in; `undefined`, and the session marked, when that is too deep. */
export function inside(place: Place, by: string, change?: Change): Place | undefined {
  if (place.depth >= limits.nesting) giveUp(place.session, 'too_deep')
  if (isOver(place.session)) return undefined
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

/** Caps weigh more than errors of syntax: what is over a cap is never judged by its mentions. */
export function giveUp(session: Session, reason: Unreadable): void {
  if (!isOver(session)) session.unreadable = reason
}

/** Whether the reading is over a cap: nothing more is read then, the verdict is known. */
export function isOver(session: Session): boolean {
  return session.unreadable !== undefined && session.unreadable !== 'syntax'
}

/** Counts words that were worked on. */
export function spend(session: Session, words: number): void {
  session.work += words
  if (session.work > limits.work) giveUp(session, 'too_many')
}

const passing = wordSet(
  'builtin command doas env exec ionice nice nohup setsid stdbuf sudo timeout',
)

/** `command git`, `builtin cd` and `sudo git` are never the function of that name. */
export function passesFunctions(nesting: readonly string[]): boolean {
  return passing.has(nesting.at(-1) ?? '')
}
