import { Type } from '@sinclair/typebox'
import { Shape } from './extension-point.ts'

/**
 * A subcommand of `gateway` from a plugin; declared in its manifest.
 *
 * @example
 * const commands: CommandSpec[] = [
 *   { name: 'tokens prune', summary: 'Deletes old tokens.', usage: '[--days N]' },
 * ]
 */
export interface CommandSpec {
  /** Words after `gateway`: `keys create`. */
  readonly name: string
  readonly summary: string
  /** The arguments, as shown in the help: `--user EMAIL | --service-account KEY`. */
  readonly usage: string
  /** Run by the distribution as the first word, without config and database. */
  readonly standalone?: boolean
  /** Exit code 1 is a result of the command; errors exit with 2. */
  readonly answers?: boolean
  /** `empty`: it gets a new database, so it neither needs nor changes one. */
  readonly database?: 'empty'
}

export const CommandSpecShape = Type.Object({
  name: Shape.text(),
  summary: Shape.text(),
  usage: Type.String(),
  standalone: Type.Optional(Type.Boolean()),
  answers: Type.Optional(Type.Boolean()),
  database: Type.Optional(Shape.oneOf(['empty'])),
})

/**
 * Runs a declared command, with the database up and no server.
 *
 * @example ctx.provide(commands, { name: 'tokens prune', run: async (args, out) => out('done') })
 */
export interface Command {
  /** The declared name. */
  readonly name: string
  /**
   * Prints with `out`. Resolves to the exit code, or to nothing for 0. Throws UsageError for wrong
   * arguments; a GatewayError is printed with its code, exit code 1.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing
  run(args: readonly string[], out: (line: string) => void): Promise<void | number>
}

/**
 * Wrong arguments: the message is printed with the usage, exit code 2.
 *
 * @example if (args.length > 1) throw new UsageError('takes at most one argument')
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Lines for the start-up message, such as a key that is shown once. */
export interface Welcome {
  lines(baseUrl: string): Promise<readonly string[]>
}
