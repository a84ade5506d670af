#!/bin/sh
':' //; exec bun --no-install --no-env-file --config=/dev/null --tsconfig-override=/dev/null "$0" "$@"
// To a shell the line above starts Bun with this file; to Bun it is a string and a comment. The folder
// where the command runs must not configure it: see runtime-settings.ts.
import { useRuntimeSettings } from './runtime-settings.ts'

const given = process.argv.slice(2)
const asksForHelp = given.some((word) => word === '--help' || word === '-h')
const args = asksForHelp ? ['help', ...given] : given
const command = args[0]
// An agent waits for the guard before each use of a tool: it loads nothing that it does not need.
const run = command === 'guard' ? (await import('./guard.ts')).runGuard(args.slice(1)) : runOther()
// Exit explicitly, because plugins may leave open handles, such as an export that gets no answer.
process.exit(await run)

async function runOther(): Promise<number> {
  try {
    // Before anything is loaded, which would have to be loaded again.
    useRuntimeSettings(process.env)
  } catch (error) {
    process.stderr.write(`gateway: ${(error as Error).message}\n`)
    return 1
  }
  if (command === 'plugin') return (await import('./plugin.ts')).runPlugin(args.slice(1))
  return await (await import('./cli.ts')).runGateway(args)
}
