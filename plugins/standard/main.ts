#!/usr/bin/env bun
import { main } from '../../kernel/boot/cli.ts'
import { builtins } from './builtins.ts'
import quickstart from './quickstart.yaml' with { type: 'text' }

// What plugins left behind, such as an export that nobody answers, does not keep the process alive.
process.exit(await main(process.argv.slice(2), { builtins, quickstart }))
