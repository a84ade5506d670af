import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { formatProblems } from '../config/problems.ts'
import { openApiText } from '../http/docs.ts'
import { adminModules, type CommandSpec, commands, UsageError, welcome } from '../plugin/index.ts'
import { migrate, openDatabase, pendingMigrations } from '../storage/index.ts'
import { createLogger } from '../telemetry/log.ts'
import { assemble, migrationsOf } from './assemble.ts'
import type { Invocation } from './cli.ts'
import { StartError } from './errors.ts'
import { type ReadConfig, readConfig, requireLoaded } from './read-config.ts'
import { type ConfigSource, findConfig } from './source.ts'
import { type Gateway, startGateway } from './start.ts'

function sourceOf({ configFile, env, quickstart }: Invocation) {
  try {
    return findConfig(configFile, env, quickstart)
  } catch (error) {
    throw new StartError((error as Error).message)
  }
}

/** `gateway serve`: until a signal ends it. */
export async function serveCommand(invocation: Invocation): Promise<number> {
  refuseWords(invocation.args)
  const source = sourceOf(invocation)
  const { loaded } = await read(source, invocation)
  const log = createLogger(loaded?.server.logFormat)
  // One that comes during the start ends the gateway as soon as it has started.
  const signal = new Promise<string>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT']) process.once(name, resolve)
  })
  const gateway = await startGateway({ ...invocation, source, log })
  for (const { lines } of gateway.registry.all(welcome)) {
    for (const line of await lines(gateway.url)) invocation.out(line)
  }
  process.on('SIGHUP', () => {
    reloadOnSignal(gateway, invocation, log).catch((err) => {
      log.error({ err }, 'the config was not reloaded')
    })
  })
  log.info({ signal: await signal }, 'shutting down')
  await gateway.stop()
  return 0
}

async function reloadOnSignal(gateway: Gateway, invocation: Invocation, log: Logger) {
  const source = sourceOf(invocation)
  const problems = await gateway.reload(source)
  if (problems.length === 0) return
  const list = formatProblems(problems, source.file ?? 'config')
  log.error(`the config was refused, the one before stays in force:\n${list}`)
}

/** `gateway check-config`: exit code 1 when there is an error. */
export async function checkConfigCommand(invocation: Invocation): Promise<number> {
  refuseWords(invocation.args)
  const source = sourceOf(invocation)
  const { loaded, problems, file } = await read(source, invocation)
  if (problems.length > 0) invocation.out(formatProblems(problems, file))
  if (loaded === undefined) {
    const errors = problems.filter(({ severity }) => severity !== 'warning').length
    invocation.out(`${errors} ${errors === 1 ? 'problem' : 'problems'} in ${file}`)
    return 1
  }
  invocation.out(`${file} is valid (config_version ${loaded.snapshot.version})`)
  return 0
}

/** `gateway migrate [--check]`: with `--check`, exit code 1 when something is pending. */
export async function migrateCommand(invocation: Invocation): Promise<number> {
  const check = invocation.args.includes('--check')
  refuseWords(invocation.args.filter((word) => word !== '--check'))
  const source = sourceOf(invocation)
  const config = await read(source, invocation)
  const loaded = requireLoaded(config)
  const database = await openDatabase({
    url: loaded.databaseUrl?.reveal(),
    dataDir: invocation.dataDir,
    attach: true,
  })
  try {
    const migrations = migrationsOf(config.plugins)
    const found = check
      ? await pendingMigrations(database.sql, migrations)
      : await migrate(database.sql, migrations)
    for (const { plugin, name } of found) invocation.out(`${plugin} ${name}`)
    if (found.length === 0) invocation.out('the database is up to date')
    else invocation.out(`${found.length} ${check ? 'pending' : 'applied'}`)
    return check && found.length > 0 ? 1 : 0
  } finally {
    await database.close()
  }
}

/** `gateway help`: the commands that the plugins of the config bring. */
export async function helpCommand(invocation: Invocation): Promise<number> {
  const source = sourceOf(invocation)
  for (const { name, usage, summary } of declaredCommands(await read(source, invocation))) {
    invocation.out(`  gateway ${name} ${usage}\n      ${summary}`)
  }
  return 0
}

/**
 * `gateway openapi`: the document of the control plane, as the plugins of the config make it. They
 * run with an empty database for the moment, so that this touches none and needs none.
 */
export async function openApiCommand(invocation: Invocation): Promise<number> {
  refuseWords(invocation.args)
  const source = sourceOf(invocation)
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-openapi-'))
  // As root, Postgres runs under another account, which has to get to its files.
  chmodSync(dataDir, 0o711)
  const log = createLogger(undefined, 'warn')
  try {
    const assembled = await assemble({ ...invocation, source, dataDir, log, ownDatabase: true })
    try {
      const routes = assembled.registry.all(adminModules).flatMap((module) => module.routes)
      invocation.out((await openApiText(routes)).trimEnd())
      return 0
    } finally {
      await assembled.close()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** A command that a plugin brings. */
export async function pluginCommand(invocation: Invocation): Promise<number> {
  const source = sourceOf(invocation)
  const line = invocation.args.join(' ')
  const spec = declaredCommands(await read(source, invocation)).find(
    ({ name }) => line === name || line.startsWith(`${name} `),
  )
  if (spec === undefined) {
    throw new UsageError(`there is no command '${line}'; 'gateway help' lists them`)
  }
  if (spec.standalone === true) {
    throw new UsageError(`it goes first on the line: gateway ${spec.name} ${spec.usage}`)
  }
  const log = createLogger(undefined, 'warn')
  const assembled = await assemble({ ...invocation, source, log, attach: true })
  try {
    const command = assembled.registry.all(commands).find(({ name }) => name === spec.name)
    if (command === undefined) throw new StartError(`no plugin provides the command '${spec.name}'`)
    await command.run(invocation.args.slice(spec.name.split(' ').length), invocation.out)
    return 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`${error.message}\nusage: gateway ${spec.name} ${spec.usage}`)
  } finally {
    await assembled.close()
  }
}

function declaredCommands(config: ReadConfig): readonly CommandSpec[] {
  return config.plugins.flatMap(({ plugin }) => plugin.manifest.commands ?? [])
}

function read(source: ConfigSource, { builtins, env }: Invocation): Promise<ReadConfig> {
  return readConfig(source, builtins, env)
}

function refuseWords(words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`unexpected argument '${words[0]}'`)
}
