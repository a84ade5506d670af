import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError } from 'model-gateway/plugin'
import { StartError } from '../../kernel/boot/errors.ts'
import type { Invocation } from './cli.ts'
import { foundLines, readEnvironment } from './environment.ts'
import { configOf } from './environment-config.ts'

/** `gateway init`: writes the config that a start without a file generates from the environment. */
export async function initCommand({ args, configFile, env, out }: Invocation): Promise<number> {
  const { force = false, print = false } = optionsOf(args)
  const environment = readEnvironment(env)
  const text = configOf(environment.found)
  if (print) {
    out(text.trimEnd())
    return 0
  }
  const file = resolve(configFile ?? (env.GATEWAY_CONFIG || 'gateway.yaml'))
  try {
    writeFileSync(file, text, { flag: force ? 'w' : 'wx' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new StartError(
      code === 'EEXIST'
        ? `${file} already exists: --force overwrites it, --print shows what would be written`
        : `the config cannot be written: ${message}`,
    )
  }
  for (const line of foundLines(environment)) out(line)
  out(`wrote ${file}`)
  return 0
}

function optionsOf(args: readonly string[]) {
  try {
    const options = { force: { type: 'boolean' }, print: { type: 'boolean' } } as const
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nusage: gateway init [--force] [--print]`)
  }
}
