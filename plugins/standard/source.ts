import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { StartError } from '../../kernel/boot/errors.ts'
import type { ConfigSource } from '../../kernel/boot/read-config.ts'
import type { Invocation } from './cli.ts'
import { type Environment, readEnvironment } from './environment.ts'
import { configOf } from './environment-config.ts'
import { type ManagedSource, withManaged } from './managed.ts'

interface MainConfig extends ConfigSource {
  /** The environment that the config was generated from; absent with a file. */
  readonly environment?: Environment
}

/** A config to start with. */
export type FoundConfig = ManagedSource & Pick<MainConfig, 'environment'>

/** The config to start with, with the managed file next to it. Throws StartError. */
export function findConfig(invocation: Pick<Invocation, 'configFile' | 'env'>): FoundConfig {
  const { environment, ...main } = findMain(invocation)
  return { ...withManaged(main), ...(environment && { environment }) }
}

/** Reads the same config again. Throws StartError. */
export function readAgain({ main }: ManagedSource): ManagedSource {
  return withManaged(main.file === undefined ? main : readSource(main.file))
}

/**
 * The config to start with: the file from the command line or GATEWAY_CONFIG, else
 * `./gateway.yaml`, else one generated from the keys in the environment. Throws StartError if a
 * named file is not readable, or a variable is invalid.
 */
function findMain({ configFile, env }: Pick<Invocation, 'configFile' | 'env'>): MainConfig {
  const inFolder = existsSync('gateway.yaml') ? 'gateway.yaml' : undefined
  const file = configFile ?? (env.GATEWAY_CONFIG || inFolder)
  if (file !== undefined) return readSource(resolve(file))
  const environment = readEnvironment(env)
  return { text: configOf(environment.found), file: undefined, environment }
}

/**
 * Reads a config file. Throws StartError if it is not readable: while the file is being replaced,
 * the gateway must not fall back to the quick start.
 */
function readSource(path: string): ConfigSource {
  try {
    return { text: readFileSync(path, 'utf8'), file: path }
  } catch (error) {
    throw new StartError(`the config file ${path} cannot be read: ${(error as Error).message}`)
  }
}
