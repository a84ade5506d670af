import type { OptionTable } from './command-options.ts'

/** How a command that runs another command is read. */
export interface Wrapper {
  readonly options?: OptionTable
  /** Options stand among the operands as well, and the command behind `--`. */
  readonly scattered?: boolean
  /** How many operands stand before the command. */
  readonly operands?: number
  /** `NAME=value` may stand before the command. */
  readonly assignments?: boolean
  /** Options with which it runs nothing. */
  readonly inert?: readonly string[]
  /** The inert options ask where a command is. */
  readonly lookup?: boolean
  /** Options whose value is shell text. */
  readonly text?: readonly string[]
  readonly lenient?: boolean
  /** What comes before the command in such a value, `exec=` for one. */
  readonly cut?: RegExp
  /** What comes behind it. */
  readonly trim?: RegExp
  /** Options behind which all words are the command. */
  readonly rest?: readonly string[]
  /** An option whose value is the program that the operands are for. */
  readonly program?: string
  /** A shell reads the words of the command, joined; several may also be run as they are, unless `always`. */
  readonly joins?: boolean | 'always'
  /** Without a command it is a shell on its standard input: always, or with one of these options. */
  readonly shell?: boolean | readonly string[]
  /** Its first operand, a lone dash aside, is a user; behind that are the words of a shell. */
  readonly user?: boolean
  /** With one of these options it is read in another way. */
  readonly instead?: { readonly options: readonly string[]; readonly wrapper: Wrapper }
  /** Words behind `--`, or else its standard input, go to ssh, unless an option holds the command. */
  readonly ssh?: boolean
  /** Operands are never a command. */
  readonly noCommand?: boolean
  readonly subcommands?: Readonly<Record<string, Wrapper>>
}
