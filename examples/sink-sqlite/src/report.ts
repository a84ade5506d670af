import { parseArgs } from 'node:util'
import { type Command, type CommandSpec, UsageError } from 'model-gateway/plugin'
import type { Store } from './store.ts'

/** Part of the manifest, so that `gateway --help` lists the command without setup. */
export const spendReport = {
  name: 'spend-report',
  summary: 'Shows spend from the SQLite copy of the ledger.',
  usage: '[--by model|owner] [--since YYYY-MM-DD]',
} satisfies CommandSpec

/** One line per model or owner: calls, dollars, name. */
export function spendCommand(store: Store): Command {
  return {
    name: spendReport.name,
    async run(args, out) {
      const { by, since } = readArguments(args)
      const lines = store.spend(by, since)
      if (lines.length === 0) out('no spend')
      for (const { name, calls, pico_usd } of lines) {
        out(`${String(calls).padStart(8)}  ${usd(pico_usd).padStart(20)}  ${name}`)
      }
    },
  }
}

function readArguments(args: readonly string[]): { by: 'model' | 'owner'; since: string } {
  const { by = 'model', since = '0000-01-01' } = parse(args)
  if (by !== 'model' && by !== 'owner')
    throw new UsageError(`--by must be model or owner, got ${by}`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(since))
    throw new UsageError('--since must be a date, such as 2026-06-01')
  return { by, since }
}

function parse(args: readonly string[]) {
  const options = { by: { type: 'string' }, since: { type: 'string' } } as const
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** Exact: no floating point. */
export function usd(pico: bigint): string {
  const digits = String(pico).padStart(13, '0')
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`
}
