import type { Logger } from 'pino'
import { createLogger } from '../../kernel/boot/log.ts'
import type { ConfigSource } from '../../kernel/boot/read-config.ts'
import { aborted, listenForEnd } from '../../kernel/boot/signals.ts'
import { type Gateway, startGateway } from '../../kernel/boot/start.ts'
import { formatProblems } from '../../kernel/config/problems.ts'
import type { Invocation } from './cli.ts'
import { read, refuseWords } from './commands.ts'
import { foundLines } from './environment.ts'
import { findConfig, readSource } from './source.ts'
import { askVendor } from './vendor-check.ts'

const RELOAD_AGAIN_MS = 5_000

/** `gateway serve`: until a signal ends it. */
export async function serveCommand(invocation: Invocation): Promise<number> {
  refuseWords(invocation.args)
  // Without a listener the signal ends the process; one that comes during the start is obeyed later.
  let reload: (() => void) | undefined
  let reloadWanted = false
  process.on('SIGHUP', () => {
    if (reload === undefined) reloadWanted = true
    else reload()
  })
  const ended = listenForEnd()
  const source = findConfig(invocation)
  const { environment } = source
  for (const line of environment === undefined ? [] : foundLines(environment)) invocation.out(line)
  const { loaded } = await read(source, invocation)
  const log = createLogger(loaded?.server.log_format)
  // The runtime would print them as they are, between the lines of the log.
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (err: unknown) => log.error({ err }, 'a fault that nobody handled'))
  }
  const gateway = await startGateway({ ...invocation, source, log, ended }).catch((error) => {
    // Whatever broke off: a Ctrl-C in the terminal also ends the children that a start has.
    if (!ended.aborted) throw error
  })
  if (gateway === undefined) {
    log.info({ signal: ended.reason }, 'shut down before serving')
    return 0
  }
  let again: Timer | undefined
  reload = () => {
    clearTimeout(again)
    if (ended.aborted) return
    reloadOnSignal(gateway, source, log).catch((err) => {
      // Not the file's fault, and whoever replaced it sends no second signal.
      log.error({ err }, 'the config was not reloaded, which is tried again in five seconds')
      again = setTimeout(() => reload?.(), RELOAD_AGAIN_MS).unref()
    })
  }
  if (reloadWanted) reload()
  for (const line of await gateway.welcome()) invocation.out(line)
  // Not waited for: a vendor that is slow or away holds nothing up.
  for (const found of environment?.found ?? []) {
    void askVendor(found, ended).then((line) => line !== undefined && invocation.out(line))
  }
  await aborted(ended)
  log.info({ signal: ended.reason }, 'shutting down')
  await gateway.stop()
  return 0
}

async function reloadOnSignal(gateway: Gateway, started: ConfigSource, log: Logger) {
  if (started.file === undefined) {
    log.warn(
      "the config was made from the environment, which needs a restart; 'gateway init' writes a file",
    )
    return
  }
  const refuse = (why: string) =>
    log.error(`the config was refused, the one before stays in force:\n${why}`)
  let source: ConfigSource
  try {
    source = readSource(started.file)
  } catch (error) {
    refuse((error as Error).message)
    return
  }
  // Who writes a file in place empties it first.
  if (source.text.trim() === '') {
    refuse(`the config file ${started.file} is empty`)
    return
  }
  const problems = await gateway.reload(source)
  if (problems.length > 0) refuse(formatProblems(problems, started.file))
}
