#!/bin/sh
':' //; exec bun --no-install --no-env-file --config=/dev/null --tsconfig-override=/dev/null "$0" "$@"
// For a shell the line above starts Bun with this file; for Bun it is a string and a comment. The
// working folder must not configure Bun: see runtime-settings.ts.
import { useRuntimeSettings } from './runtime-settings.ts'

const given = process.argv.slice(2)
const asksForHelp = given.some((word) => word === '--help' || word === '-h')
const args = asksForHelp ? ['help', ...given] : given
const command = args[0]
// The guard loads as little as possible, because the agent waits for it before each tool.
const run = command === 'guard' ? (await import('./guard.ts')).runGuard(args.slice(1)) : runOther()
// Exit explicitly, because plugins may leave open handles, such as an export that gets no answer.
process.exit(await run)

async function runOther(): Promise<number> {
  try {
    // Before other imports, because a restart would load them again.
    useRuntimeSettings(process.env)
  } catch (error) {
    process.stderr.write(`gateway: ${(error as Error).message}\n`)
    return 1
  }
  if (command === 'plugin') return (await import('./plugin.ts')).runPlugin(args.slice(1))
  return await (await import('./cli.ts')).runGateway(args)
}
