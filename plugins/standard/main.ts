#!/usr/bin/env bun
import { main } from '../../kernel/boot/cli.ts'
import { builtins } from './builtins.ts'
import quickstart from './quickstart.yaml' with { type: 'text' }

process.exitCode = await main(process.argv.slice(2), { builtins, quickstart })
