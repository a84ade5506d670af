import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { StartError } from '../../kernel/boot/errors.ts'
import type { ConfigSource } from '../../kernel/boot/read-config.ts'
import type { Invocation } from './cli.ts'
import quickstart from './quickstart.yaml' with { type: 'text' }

/**
 * The config to start with: the file named on the command line or in GATEWAY_CONFIG, else
 * `./gateway.yaml`, else the bundled quick start. Throws StartError when a named file cannot be read.
 */
export function findConfig({ configFile, env }: Invocation): ConfigSource {
  const inFolder = existsSync('gateway.yaml') ? 'gateway.yaml' : undefined
  const file = configFile ?? (env.GATEWAY_CONFIG || inFolder)
  return file === undefined ? { text: quickstart, file } : readSource(resolve(file))
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
