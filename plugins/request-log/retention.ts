import { Cron } from 'croner'
import { type Problem, type Static, Type } from 'model-gateway/plugin'
import { oneOf } from '../_shared/schema.ts'
import { DAY_MS } from './partitions.ts'

const days = { '1d': 1, '3d': 3, '7d': 7 } as const
export type Retention = keyof typeof days

export const Purge = Type.Object(
  {
    enabled: Type.Boolean({
      default: false,
      description: 'Whether old request logs are deleted by this process.',
    }),
    retention: oneOf(['1d', '3d', '7d'], {
      default: '7d',
      description: 'How long request logs are kept.',
    }),
    schedule: Type.String({
      default: '0 0 * * *',
      description:
        'When old request logs are deleted: a cron expression with 5 fields, in UTC, at most once a day.',
    }),
  },
  { additionalProperties: false, default: {} },
)
export type PurgeSettings = Static<typeof Purge>

export function isRetention(text: string): text is Retention {
  return Object.hasOwn(days, text)
}

/** The time before which request logs are deleted. */
export function cutoffOf(retention: Retention, now: Date): Date {
  return new Date(now.getTime() - days[retention] * DAY_MS)
}

/** The next run of a schedule after a time; undefined if it never runs. */
export function nextRun(schedule: string, after: Date): Date | undefined {
  return new Cron(schedule, { timezone: 'UTC', mode: '5-part' }).nextRun(after) ?? undefined
}

/** The last run of a schedule before a time. */
export function lastRun(schedule: string, before: Date): Date | undefined {
  return new Cron(schedule, { timezone: 'UTC', mode: '5-part' }).previousRuns(1, before)[0]
}

/** The problem of a schedule for the purge; undefined if it is valid. */
export function scheduleFault(schedule: string): Omit<Problem, 'path'> | undefined {
  const [minute = '', hour = '', ...rest] = schedule.trim().split(/\s+/)
  const hint = 'five fields: minute, hour, day of month, month, day of week, such as 30 3 * * *'
  if (rest.length !== 3) return { message: 'must be a cron expression with 5 fields', hint }
  try {
    // The other three fields choose days.
    if (nextRun(schedule, new Date()) === undefined) return { message: 'matches no date' }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { message: `is not a cron expression: ${reason}`, hint }
  }
  if (/^\d+$/.test(minute) && /^\d+$/.test(hour)) return undefined
  return {
    message: 'must not run more often than once a day',
    hint: 'use one number for the minute and one for the hour, such as 30 3 * * *',
  }
}
