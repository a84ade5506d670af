import type { Logger } from 'pino'
import { StartError } from '../../kernel/boot/errors.ts'
import type { Gateway } from '../../kernel/boot/start.ts'
import { hasErrors } from '../../kernel/config/problems.ts'
import type { ConfigAccess } from '../config-editor/access.ts'
import type { Invocation } from './cli.ts'
import {
  formatPlaced,
  type ManagedSource,
  type PlacedProblem,
  type ReadManaged,
  readManaged,
  withManaged,
} from './managed.ts'
import { readAgain } from './source.ts'

/** Reloads the config files, on SIGHUP and for the console. */
export interface Reload {
  /** Reads and applies the files, or logs why not. Rejects on an unexpected error. */
  onSignal(log: Logger): Promise<void>
  readonly access: Pick<ConfigAccess, 'file' | 'types' | 'isSet' | 'read' | 'check' | 'apply'>
}

export function createReload(
  gateway: Pick<Gateway, 'reload'>,
  { source: started, plugins }: Pick<ReadManaged, 'source' | 'plugins'>,
  invocation: Pick<Invocation, 'builtins' | 'env'>,
): Reload {
  let inForce = started

  async function put(source: ManagedSource): Promise<readonly PlacedProblem[]> {
    // Programs that write a file in place empty it first.
    if (source.main.text.trim() === '')
      throw new StartError(`the config file ${source.file} is empty`)
    if (hasErrors(source.faults)) return source.faults
    const problems = await gateway.reload(source)
    if (problems.length === 0) inForce = source
    return problems.map(source.place)
  }

  return {
    async onSignal(log) {
      const refuse = (why: string) =>
        log.error(`the new config was rejected; the previous one stays in force:\n${why}`)
      try {
        const source = readAgain(started)
        if (source.file === undefined && source.text === inForce.text) {
          log.warn(
            "the config was generated from the environment; restart to apply changes, or write a file with 'gateway init'",
          )
          return
        }
        const problems = await put(source)
        if (problems.length > 0) refuse(formatPlaced(problems))
      } catch (error) {
        if (!(error instanceof StartError)) throw error
        refuse(error.message)
      }
    },
    access: {
      file: started.managedFile,
      types: plugins.flatMap(({ plugin }) => plugin.manifest.providerTypes ?? []),
      isSet: (name) => Boolean(invocation.env[name]),
      read: () => readAgain(started).managedText,
      async check(text) {
        const { main } = readAgain(started)
        return (await readManaged(withManaged(main, text ?? null), invocation)).problems
      },
      apply: () => put(readAgain(started)),
    },
  }
}
