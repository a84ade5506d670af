#!/usr/bin/env bun
import { asksForHelp } from '../../kernel/boot/help.ts'
import { useRuntimeSettings } from '../../kernel/boot/runtime-settings.ts'

const args = process.argv.slice(2)
const command = asksForHelp(args) ? 'help' : args[0]
// Somebody waits for this command before each use of a tool: it loads nothing that it does not need.
const run =
  command === 'guard'
    ? (await import('./guard.ts')).runGuard(args.slice(1))
    : command === 'plugin'
      ? (await import('./plugin.ts')).runPlugin(args.slice(1))
      : runGateway()
// What plugins left behind, such as an export that nobody answers, does not keep the process alive.
process.exit(await run)

async function runGateway(): Promise<number> {
  // Before anything is loaded, which would have to be loaded again.
  useRuntimeSettings(process.env)
  return await (await import('./gateway.ts')).runGateway(args)
}
