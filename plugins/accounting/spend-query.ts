import { Type } from 'model-gateway/plugin'
import { dayOf } from '../_shared/instant.ts'
import { invalidQuery } from '../_shared/query.ts'
import { oneOf } from '../_shared/schema.ts'
import type { OwnerId } from './owner-names.ts'
import { type UtcDay, utcDay, type Window } from './window.ts'

const MAX_DAYS = 90
const DEFAULT_DAYS = 30

export const OwnerKind = oneOf(['all', 'user', 'service_account'], {
  description: 'Default all.',
  errorMessage: 'must be all, user or service_account; teams do not spend',
})

export const Days = Type.Union([Type.Literal(7), Type.Literal(30)], {
  description: 'Number of days, including today. Default 7.',
  errorMessage: 'must be 7 or 30',
})

const DayText = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  errorMessage: 'must be a day such as 2026-03-31',
})

/** The days of an export. */
export const rangeQuery = {
  start: Type.Optional(DayText),
  end: Type.Optional(DayText),
  day: Type.Optional(DayText),
}

/** `all` means the same as no filter. */
export function ownerKindOf(
  kind: 'all' | OwnerId['kind'] | undefined,
): OwnerId['kind'] | undefined {
  return kind === 'all' ? undefined : kind
}

/** The last `days` days, including `today`. */
export function lastDays(days: number, today: UtcDay): Window {
  return { start: today + 1 - days, end: today + 1 }
}

/** `start` to `end`, both included, or `day`, or the last 30 full days. Throws `invalid_request`. */
export function readRange(
  query: {
    readonly start?: string | undefined
    readonly end?: string | undefined
    readonly day?: string | undefined
  },
  today: UtcDay,
): Window {
  const { start, end, day } = query
  if (day !== undefined) {
    if (start !== undefined || end !== undefined)
      throw invalidQuery('day', 'cannot be combined with start or end')
    const only = readDay('day', day)
    return { start: only, end: only + 1 }
  }
  if (start === undefined && end === undefined) return { start: today - DEFAULT_DAYS, end: today }
  if (start === undefined) throw invalidQuery('start', 'is required with end')
  if (end === undefined) throw invalidQuery('end', 'is required with start')
  const range = { start: readDay('start', start), end: readDay('end', end) + 1 }
  if (range.end <= range.start) throw invalidQuery('end', 'must not be before start')
  if (range.end - range.start > MAX_DAYS) {
    throw invalidQuery('end', `is too late: the range must have at most ${MAX_DAYS} days`)
  }
  return range
}

function readDay(name: string, text: string): UtcDay {
  const at = dayOf(text)
  if (at === undefined) throw invalidQuery(name, 'is not a date of the calendar')
  return utcDay(at)
}
