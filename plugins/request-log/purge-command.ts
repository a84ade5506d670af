import { type Clock, type Command, type CommandSpec, UsageError } from 'model-gateway/plugin'
import { once, readArguments } from '../_shared/arguments.ts'
import { dayOf, instantOf } from '../_shared/instant.ts'
import type { PurgeStore } from './purge-store.ts'
import { cutoffOf, isRetention, type Retention } from './retention.ts'

export const purgeRequestLogs: CommandSpec = {
  name: 'purge-request-logs',
  summary: 'Deletes old request logs with their payloads, tags and attempts',
  usage: '[--retention 1d|3d|7d | --before INSTANT] [--dry-run]',
}

/**
 * `gateway purge-request-logs`: prints how many request logs were deleted, or would be with
 * `--dry-run`.
 */
export function createPurgeCommand(
  store: PurgeStore,
  clock: Clock,
  configured: () => Retention,
): Command {
  return {
    name: purgeRequestLogs.name,
    async run(args, out) {
      const { dryRun, ...options } = parseArguments(args)
      const now = clock.now()
      const cutoff = options.before ?? cutoffOf(options.retention ?? configured(), now)
      if (cutoff > now) throw new UsageError('--before must not be in the future')
      const what = `request logs from before ${cutoff.toISOString()}`
      if (dryRun) return out(`${await store.count(cutoff)} ${what} would be deleted`)
      const deleted = await store.purge(cutoff)
      if (deleted === 'busy') throw new Error('another process is purging the request log')
      out(`${deleted} ${what} deleted`)
    },
  }
}

interface Options {
  readonly retention: Retention | undefined
  readonly before: Date | undefined
  readonly dryRun: boolean
}

function parseArguments(args: readonly string[]): Options {
  const values = readArguments(args, ['--retention', '--before'], ['--dry-run'])
  const retention = once(values, '--retention')
  const before = once(values, '--before')
  if (retention !== undefined && before !== undefined) {
    throw new UsageError('--retention and --before cannot be combined')
  }
  if (retention !== undefined && !isRetention(retention)) {
    throw new UsageError(`--retention ${retention}: must be 1d, 3d or 7d`)
  }
  return {
    retention,
    before: before === undefined ? undefined : instant(before),
    dryRun: values.has('--dry-run'),
  }
}

/** A day means its start in UTC. */
function instant(text: string): Date {
  const at = instantOf(text) ?? dayOf(text)
  if (at !== undefined) return at
  throw new UsageError(`--before ${text}: must be a time such as 2026-11-21T00:00:00Z`)
}
