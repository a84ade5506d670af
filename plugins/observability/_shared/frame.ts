import { Type } from 'model-gateway/plugin'
import { oneOf } from '../../_shared/schema.ts'

const HOUR_MS = 3_600_000
const BUCKET_HOURS = 12
const BUCKET_MS = BUCKET_HOURS * HOUR_MS
const DAY_MS = 24 * HOUR_MS
const days = { '7d': 7, '31d': 31 } as const

export type Range = keyof typeof days

/** The range of a query; default 7d. */
export const RangeQuery = Type.Optional(
  oneOf(['7d', '31d'], { description: 'Length of the window. Default 7d.' }),
)

/** Members at the beginning of every reply over a range. */
export const frameMembers = {
  range: oneOf(['7d', '31d']),
  bucket_hours: Type.Literal(BUCKET_HOURS),
  window_start: Type.String({ format: 'date-time' }),
  window_end: Type.String({
    format: 'date-time',
    description: 'End of the window (exclusive): the next half day (UTC) after now.',
  }),
}

/** UTC half days, up to and including the current one. */
export interface Frame {
  readonly range: Range
  readonly start: Date
  readonly end: Date
  /** The start of each half day, oldest first. */
  readonly buckets: readonly string[]
}

export function frameOf(range: Range, now: Date): Frame {
  const end = (Math.floor(now.getTime() / BUCKET_MS) + 1) * BUCKET_MS
  const start = end - days[range] * DAY_MS
  const count = (end - start) / BUCKET_MS
  return {
    range,
    start: new Date(start),
    end: new Date(end),
    buckets: Array.from({ length: count }, (_, i) => new Date(start + i * BUCKET_MS).toISOString()),
  }
}

export function wireFrame({ range, start, end }: Frame) {
  return {
    range,
    bucket_hours: BUCKET_HOURS,
    window_start: start.toISOString(),
    window_end: end.toISOString(),
  } as const
}

export const tag = 'observability'

export const Usd = Type.String({ description: 'USD, a plain decimal', examples: ['0.000213'] })

export const OwnerKind = oneOf(['user', 'service_account'])
