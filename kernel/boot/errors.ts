import { formatProblems } from '../config/problems.ts'
import { ListenError } from '../http/listen.ts'
import { ConfigError } from '../plugin/index.ts'
import { MissingServiceError } from '../registry/context.ts'
import { PluginError } from '../registry/registry.ts'
import { DatabaseError } from '../storage/database.ts'
import { MigrationError } from '../storage/migrate.ts'

/** The gateway cannot start with these settings; the message is for the operator. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** By the name of an extension point: the `use` entry that provides it, for messages. */
export type ProvidedBy = Readonly<Record<string, string>>

/** The message of an error that the operator can fix, to be shown without a stack. */
export function operatorMessage(error: unknown, providedBy: ProvidedBy = {}): string | undefined {
  if (error instanceof ConfigError) {
    return `the config cannot be used:\n${formatProblems(error.problems, 'config')}`
  }
  if (error instanceof MissingServiceError) {
    const provider = providedBy[error.point] ?? 'a plugin that provides it'
    return `${error.message}, which this command needs: add ${provider} to plugins`
  }
  return error instanceof StartError ||
    error instanceof PluginError ||
    error instanceof ListenError ||
    error instanceof DatabaseError ||
    error instanceof MigrationError
    ? error.message
    : undefined
}
