import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { StartError } from '../../kernel/boot/errors.ts'
import type { ConfigSource } from '../../kernel/boot/read-config.ts'
import type { Invocation } from './cli.ts'
import { type Environment, readEnvironment } from './environment.ts'
import { configOf } from './environment-config.ts'

/** A config to start with. */
export interface FoundConfig extends ConfigSource {
  /** What the config was made from where there is no file. */
  readonly environment?: Environment
}

/**
 * The config to start with: the file named on the command line or in GATEWAY_CONFIG, else
 * `./gateway.yaml`, else one made from the keys in the environment. Throws StartError when a named file
 * cannot be read, and for a variable that is wrong.
 */
export function findConfig({
  configFile,
  env,
}: Pick<Invocation, 'configFile' | 'env'>): FoundConfig {
  const inFolder = existsSync('gateway.yaml') ? 'gateway.yaml' : undefined
  const file = configFile ?? (env.GATEWAY_CONFIG || inFolder)
  if (file !== undefined) return readSource(resolve(file))
  const environment = readEnvironment(env)
  return { text: configOf(environment.found), file: undefined, environment }
}

/**
 * The config in the file of this path. Throws StartError when it cannot be read: a moment without it,
 * as while it is replaced, must not put the quick start into force.
 */
export function readSource(path: string): ConfigSource {
  try {
    return { text: readFileSync(path, 'utf8'), file: path }
  } catch (error) {
    throw new StartError(`the config file ${path} cannot be read: ${(error as Error).message}`)
  }
}
