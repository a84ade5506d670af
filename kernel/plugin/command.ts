import { Type } from '@sinclair/typebox'
import { Shape } from './extension-point.ts'

/**
 * A sub-command of `gateway` that a plugin brings; declared in its manifest.
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
  /** The distribution runs it, as the first word of the line, without config and database. */
  readonly standalone?: boolean
  /** Exit code 1 is an answer of it; what keeps it from answering is 2. */
  readonly answers?: boolean
  /** `empty`: it gets a database made for it, so that it touches none and needs none. */
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
 * What a declared command does; it runs with the database up and no server.
 *
 * @example ctx.provide(commands, { name: 'tokens prune', run: async (args, out) => out('done') })
 */
export interface Command {
  /** The name of its declaration. */
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
 * @example if (args.length > 1) throw new UsageError('there is one argument at most')
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Lines for the banner of a quick start, such as a key that is shown once. */
export interface Welcome {
  lines(baseUrl: string): Promise<readonly string[]>
}
