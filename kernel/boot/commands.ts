import type { Logger } from 'pino'
import { formatProblems } from '../config/problems.ts'
import { type Command, commands, UsageError, welcome } from '../plugin/index.ts'
import { migrate, openDatabase, pendingMigrations } from '../storage/index.ts'
import { createLogger } from '../telemetry/log.ts'
import { assemble, migrationsOf } from './assemble.ts'
import type { Invocation } from './cli.ts'
import { StartError } from './errors.ts'
import { readConfig, requireLoaded } from './read-config.ts'
import { findConfig } from './source.ts'
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
  const { loaded } = await readConfig(source, invocation.builtins, invocation.env)
  const log = createLogger(loaded?.server.logFormat)
  const gateway = await startGateway({ ...invocation, source, log })
  for (const { lines } of gateway.registry.all(welcome)) {
    for (const line of await lines(gateway.url)) invocation.out(line)
  }
  process.on('SIGHUP', () => {
    reloadOnSignal(gateway, invocation, log).catch((err) => {
      log.error({ err }, 'the config was not reloaded')
    })
  })
  const signal = await new Promise<string>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT']) process.once(name, resolve)
  })
  log.info({ signal }, 'shutting down')
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
  const { loaded, problems, file } = await readConfig(source, invocation.builtins, invocation.env)
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
  const config = await readConfig(source, invocation.builtins, invocation.env)
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

/** A command that a plugin brings; without words, the list of them. */
export async function pluginCommand(invocation: Invocation): Promise<number> {
  const source = sourceOf(invocation)
  const log = createLogger(undefined, 'warn')
  const assembled = await assemble({ ...invocation, source, log, attach: true })
  try {
    const known = assembled.registry.all(commands)
    if (invocation.args.length === 0) {
      for (const command of known) invocation.out(helpLine(command))
      return 0
    }
    const line = invocation.args.join(' ')
    const command = known.find(({ name }) => line === name || line.startsWith(`${name} `))
    if (command === undefined) {
      throw new UsageError(`there is no command '${line}'; 'gateway help' lists them`)
    }
    try {
      const words = command.name.split(' ').length
      await command.run(invocation.args.slice(words), invocation.out)
      return 0
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      throw new UsageError(`${error.message}\nusage: gateway ${command.name} ${command.usage}`)
    }
  } finally {
    await assembled.close()
  }
}

function helpLine({ name, usage, summary }: Command): string {
  return `  gateway ${name} ${usage}\n      ${summary}`
}

function refuseWords(words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`unexpected argument '${words[0]}'`)
}
