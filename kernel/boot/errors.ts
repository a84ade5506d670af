import { formatProblems } from '../config/problems.ts'
import { ListenError } from '../http/listen.ts'
import { ConfigError } from '../plugin/index.ts'
import { MissingServiceError } from '../registry/context.ts'
import { PluginError } from '../registry/registry.ts'
import { DatabaseError } from '../storage/database.ts'
import { MigrationError } from '../storage/migrate.ts'

/** The gateway cannot start as it has been told to. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** What `use` loads to have an implementation of a point, by the point's name: for messages. */
export type ProvidedBy = Readonly<Record<string, string>>

/** The message of an error that the operator can do something about; no stack is needed for it. */
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
