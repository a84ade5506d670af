import type { OptionTable } from './command-options.ts'

/** How a command that runs another command is read. */
export interface Wrapper {
  readonly options?: OptionTable
  /** Options may be among the operands, and the command is after `--`. */
  readonly scattered?: boolean
  /** The number of operands before the command. */
  readonly operands?: number
  /** `NAME=value` may precede the command. */
  readonly assignments?: boolean
  /** Options with which it runs nothing. */
  readonly inert?: readonly string[]
  /** The inert options ask for a command's location. */
  readonly lookup?: boolean
  /** Options whose value is shell text. */
  readonly text?: readonly string[]
  readonly lenient?: boolean
  /** A prefix of the command in such a value, such as `exec=`. */
  readonly cut?: RegExp
  /** A suffix of the command. */
  readonly trim?: RegExp
  /** Options after which all words are the command. */
  readonly rest?: readonly string[]
  /** An option whose value is the program that gets the operands. */
  readonly program?: string
  /**
   * A shell reads the joined words of the command; unless `always`, several words may be run
   * directly.
   */
  readonly joins?: boolean | 'always'
  /** Without a command it is a shell on standard input: always, or with one of these options. */
  readonly shell?: boolean | readonly string[]
  /** Its first operand, except a lone dash, is a user; then the words of a shell follow. */
  readonly user?: boolean
  /** With one of these options it is read in another way. */
  readonly instead?: { readonly options: readonly string[]; readonly wrapper: Wrapper }
  /**
   * The words after `--`, or else its standard input, go to ssh, unless an option has the command.
   */
  readonly ssh?: boolean
  /** Operands are never a command. */
  readonly noCommand?: boolean
  readonly subcommands?: Readonly<Record<string, Wrapper>>
}
