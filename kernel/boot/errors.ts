import { formatProblems } from '../config/problems.ts'
import { ConfigError } from '../plugin/index.ts'
import { PluginError } from '../registry/registry.ts'
import { DatabaseError, DataDirectoryInUseError, MigrationError } from '../storage/index.ts'

/** The gateway cannot start as it has been told to. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** The message of an error that the operator can do something about; no stack is needed for it. */
export function operatorMessage(error: unknown): string | undefined {
  if (error instanceof ConfigError) {
    return `the config cannot be used:\n${formatProblems(error.problems, 'config')}`
  }
  return error instanceof StartError ||
    error instanceof PluginError ||
    error instanceof DatabaseError ||
    error instanceof DataDirectoryInUseError ||
    error instanceof MigrationError
    ? error.message
    : undefined
}
