import { createLogger } from '../../kernel/boot/log.ts'
import { aborted, listenForEnd } from '../../kernel/boot/signals.ts'
import { startGateway } from '../../kernel/boot/start.ts'
import { configHost } from './builtins.ts'
import type { Invocation } from './cli.ts'
import { read, refuseWords } from './commands.ts'
import { foundLines } from './environment.ts'
import { vendors } from './known-providers.ts'
import { requireUsable } from './managed.ts'
import { createReload } from './reload.ts'
import { findConfig } from './source.ts'
import { askVendor } from './vendor-check.ts'

const RELOAD_AGAIN_MS = 5_000

/** `gateway serve`: until a signal ends it. */
export async function serveCommand(invocation: Invocation): Promise<number> {
  refuseWords(invocation.args)
  // Without a listener the signal would end the process; a signal during the start is handled
  // later.
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
  const config = await read(source, invocation)
  const log = createLogger(requireUsable(config).server.log_format)
  // The runtime would print them unformatted between the log lines.
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (err: unknown) => log.error({ err }, 'unhandled error'))
  }
  const gateway = await startGateway({ ...invocation, source, log, ended }).catch((error) => {
    // Ignore errors after a signal: Ctrl-C in a terminal also ends the child processes of a start.
    if (!ended.aborted) throw error
  })
  if (gateway === undefined) {
    log.info({ signal: ended.reason }, 'shut down before serving')
    return 0
  }
  const { onSignal, access } = createReload(gateway, config, invocation)
  configHost.access = { ...access, vendors }
  let again: Timer | undefined
  reload = () => {
    clearTimeout(again)
    if (ended.aborted) return
    onSignal(log).catch((err) => {
      // Retry, because the file is not at fault and no second signal will come.
      log.error({ err }, 'reloading the config failed; next attempt in five seconds')
      again = setTimeout(() => reload?.(), RELOAD_AGAIN_MS).unref()
    })
  }
  if (reloadWanted) reload()
  for (const line of await gateway.welcome()) invocation.out(line)
  // Not awaited, so that a slow vendor does not delay the start.
  for (const found of environment?.found ?? []) {
    void askVendor(found, ended).then((line) => line !== undefined && invocation.out(line))
  }
  await aborted(ended)
  log.info({ signal: ended.reason }, 'shutting down')
  await gateway.stop()
  return 0
}
