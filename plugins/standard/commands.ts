import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandSpec, commands, GatewayError, UsageError } from 'model-gateway/plugin'
import { type Assembled, assemble, type BootOptions } from '../../kernel/boot/assemble.ts'
import { StartError } from '../../kernel/boot/errors.ts'
import { createLogger } from '../../kernel/boot/log.ts'
import { migrateFor } from '../../kernel/boot/migrations.ts'
import type { ReadConfig } from '../../kernel/boot/read-config.ts'
import { parseBind } from '../../kernel/config/server-section.ts'
import type { Invocation } from './cli.ts'
import {
  formatPlaced,
  type ManagedSource,
  type ReadManaged,
  readManaged,
  requireUsable,
} from './managed.ts'
import { findConfig } from './source.ts'

const HEALTHCHECK_TIMEOUT_MS = 3_000

/** Why a command has no answer: exit code 2, because 1 would look like an answer. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
}

/** `gateway check-config`: exit code 1 if the config has an error. */
export async function checkConfigCommand(invocation: Invocation): Promise<number> {
  refuseWords(invocation.args)
  const source = findConfig(invocation)
  const { loaded, problems, file } = await read(source, invocation)
  const files = source.managedText === undefined ? file : `${file} with ${source.managedFile}`
  if (problems.length > 0) invocation.out(formatPlaced(problems))
  if (loaded === undefined) {
    const errors = problems.filter(({ severity }) => severity !== 'warning').length
    invocation.out(`${errors} ${errors === 1 ? 'problem' : 'problems'} in ${files}`)
    return 1
  }
  invocation.out(`${files} is valid (config_version ${loaded.snapshot.version})`)
  return 0
}

/** `gateway migrate [--check]`: with `--check`, exit code 1 if migrations are pending. */
export async function migrateCommand(invocation: Invocation): Promise<number> {
  const check = invocation.args.includes('--check')
  refuseWords(invocation.args.filter((word) => word !== '--check'))
  const source = findConfig(invocation)
  const config = await read(source, invocation)
  requireUsable(config)
  const found = await migrateFor(config, { ...invocation, check })
  for (const { plugin, name } of found) invocation.out(`${plugin} ${name}`)
  if (found.length === 0) invocation.out('the database is up to date')
  else invocation.out(`${found.length} ${check ? 'pending' : 'applied'}`)
  return check && found.length > 0 ? 1 : 0
}

/**
 * `gateway healthcheck`: requests `/healthz` at the configured address on this machine; exit code 1
 * if it does not answer.
 */
export async function healthcheckCommand(invocation: Invocation): Promise<number> {
  refuseWords(invocation.args)
  const { hostname, port } = await listenAddress(invocation)
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  const url = `http://${host}:${port}/healthz`
  const answer = await fetch(url, { signal: AbortSignal.timeout(HEALTHCHECK_TIMEOUT_MS) }).catch(
    (error: Error) => error,
  )
  const ok = answer instanceof Response && answer.ok
  const reason = answer instanceof Response ? `answered ${answer.status}` : answer.message
  invocation.out(ok ? 'ok' : `${url}: ${reason}`)
  return ok ? 0 : 1
}

/**
 * Does not read the config file if GATEWAY_BIND is set, because a running gateway is healthy even
 * if the file is broken.
 */
async function listenAddress(invocation: Invocation) {
  const fromEnv = invocation.env.GATEWAY_BIND
  const { hostname, port } =
    (fromEnv === undefined ? undefined : parseBind(fromEnv)) ??
    requireUsable(await read(findConfig(invocation), invocation)).server.bind
  const everywhere = { '0.0.0.0': '127.0.0.1', '::': '::1' }[hostname]
  return { hostname: everywhere ?? hostname, port }
}

/** `gateway help`: adds the commands of the plugins in the config. */
export async function helpCommand(invocation: Invocation): Promise<number> {
  const source = findConfig(invocation)
  for (const { name, usage, summary } of declaredCommands(await read(source, invocation))) {
    invocation.out(`${`  gateway ${name} ${usage}`.trimEnd()}\n      ${summary}`)
  }
  return 0
}

/** A command that a plugin brings. */
export async function pluginCommand(invocation: Invocation): Promise<number> {
  const source = findConfig(invocation)
  const line = invocation.args.join(' ')
  const config = await read(source, invocation)
  const spec = declaredCommands(config).find(
    ({ name }) => line === name || line.startsWith(`${name} `),
  )
  if (spec === undefined) {
    throw new UsageError(`unknown command '${line}'; run 'gateway help' for a list`)
  }
  if (spec.standalone === true) {
    throw new UsageError(
      `'${spec.name}' must follow 'gateway' directly: gateway ${spec.name} ${spec.usage}`,
    )
  }
  const args = invocation.args.slice(spec.name.split(' ').length)
  const answer = withPlugins(invocation, config, spec.database, async ({ registry }) => {
    const command = registry.all(commands).find(({ name }) => name === spec.name)
    if (command === undefined) throw new StartError(`no plugin provides the command '${spec.name}'`)
    try {
      return (await command.run(args, invocation.out)) ?? 0
    } catch (error) {
      if (error instanceof GatewayError) {
        throw new StartError(`${error.code} (${error.status}): ${error.message}`)
      }
      if (!(error instanceof UsageError)) throw error
      throw new UsageError(`${error.message}\nusage: gateway ${spec.name} ${spec.usage}`.trimEnd())
    }
  })
  if (spec.answers !== true) return await answer
  return await answer.catch((cause: unknown) => {
    throw new Unanswered(`${spec.name} has no answer`, { cause })
  })
}

/** Sets up the plugins of a config, with its database or a temporary empty one. */
async function withPlugins<T>(
  invocation: Invocation,
  config: ReadManaged,
  database: CommandSpec['database'],
  use: (assembled: Assembled) => Promise<T>,
): Promise<T> {
  requireUsable(config)
  const { source } = config
  const log = createLogger(undefined, 'warn')
  const set = async (where: Pick<BootOptions, 'attach' | 'ownDatabase' | 'dataDir'>) => {
    const assembled = await assemble({ ...invocation, source, log, ...where })
    try {
      return await use(assembled)
    } finally {
      await assembled.close()
    }
  }
  if (database !== 'empty') return await set({ dataDir: invocation.dataDir, attach: true })
  return await inFolderOfTheMoment((dataDir) => set({ dataDir, ownDatabase: true }))
}

/** Runs `use` with a temporary data directory. */
export async function inFolderOfTheMoment<T>(use: (dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-plugins-'))
  // If the gateway runs as root, Postgres runs as another account that needs access.
  chmodSync(dataDir, 0o711)
  try {
    return await use(dataDir)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function declaredCommands(config: ReadConfig): readonly CommandSpec[] {
  return config.plugins.flatMap(({ plugin }) => plugin.manifest.commands ?? [])
}

export function read(source: ManagedSource, invocation: Invocation): Promise<ReadManaged> {
  return readManaged(source, invocation)
}

export function refuseWords(words: readonly string[]): void {
  if (words.length === 0) return
  const help = "run 'gateway help' for the arguments of each command"
  throw new UsageError(`unexpected argument '${words[0]}'; ${help}`)
}
