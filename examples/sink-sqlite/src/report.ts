import { parseArgs } from 'node:util'
import { type Command, type CommandSpec, UsageError } from 'model-gateway/plugin'
import type { Store } from './store.ts'

/** Stands in the manifest, so that `gateway --help` knows the command without setting anything up. */
export const spendReport = {
  name: 'spend-report',
  summary: 'What was spent, from the SQLite copy of the ledger.',
  usage: '[--by model|owner] [--since YYYY-MM-DD]',
} satisfies CommandSpec

/** A line for each model or owner: calls, dollars, name. */
export function spendCommand(store: Store): Command {
  return {
    name: spendReport.name,
    async run(args, out) {
      const { by, since } = readArguments(args)
      const lines = store.spend(by, since)
      if (lines.length === 0) out('nothing was spent')
      for (const { name, calls, pico_usd } of lines) {
        out(`${String(calls).padStart(8)}  ${usd(pico_usd).padStart(20)}  ${name}`)
      }
    },
  }
}

function readArguments(args: readonly string[]): { by: 'model' | 'owner'; since: string } {
  const { by = 'model', since = '0000-01-01' } = parse(args)
  if (by !== 'model' && by !== 'owner') throw new UsageError(`--by: model or owner, not ${by}`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(since)) throw new UsageError('--since: a day as YYYY-MM-DD')
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

/** Exact, without a detour over floating point. */
export function usd(pico: bigint): string {
  const digits = String(pico).padStart(13, '0')
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`
}
