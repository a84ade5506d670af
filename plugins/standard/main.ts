#!/usr/bin/env bun
const args = process.argv.slice(2)
// Somebody waits for this command before each use of a tool: it loads nothing that it does not need.
const run =
  args[0] === 'guard'
    ? (await import('./guard.ts')).runGuard(args.slice(1))
    : (await import('./gateway.ts')).runGateway(args)
// What plugins left behind, such as an export that nobody answers, does not keep the process alive.
process.exit(await run)
