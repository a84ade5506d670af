import type { Page } from '../../_shared/page.ts'
import { inTime, type Reader, requestLog } from '../_shared/store.ts'
import type { Filter } from './filter.ts'
import { type Piece, piecesOf } from './pieces.ts'
import {
  byMerging,
  failedSql,
  isPlain,
  newestFirst,
  setsOf,
  type Way,
  walkOf,
} from './way-store.ts'

/**
 * With a filter, the maximum number of matches that are counted and can be paged through, newest
 * first.
 */
export const MOST_MATCHES = 10_000
/** Maximum number of matches in a histogram. */
export const MOST_IN_HISTOGRAM = 20_000
/** Time limit of a count, in milliseconds. */
const COUNT_MS = 75
/** Time limit of a scan for a combination of filters, in milliseconds. */
const WALK_MS = 10

/**
 * Time limit of plans chosen by Postgres, in milliseconds. Its statistics lack rows that are newer
 * than the last ANALYZE, such as all rows of a new day.
 */
const PLAIN_MS = 500

/** Key of a summary, with the time in microseconds. */
export interface Place {
  readonly at: string
  readonly id: string
}

export interface Matches {
  readonly places: readonly Place[]
  readonly total: number
  /** false: the total is a lower bound. */
  readonly exact: boolean
}

export interface Bucket {
  /** Milliseconds since the epoch. */
  readonly start: number
  readonly requests: number
  readonly errors: number
}

const HOUR_MS = 3_600_000

/** The start of the filter's range, without times that were already purged. */
async function sinceOf(reader: Reader, { start }: Filter): Promise<Date> {
  const [row] = await reader.unsafe<{ kept_since: Date }[]>(
    `select kept_since from "${requestLog}".retention`,
  )
  const kept = row?.kept_since ?? new Date(0)
  return start === undefined || start < kept ? kept : start
}

/** `beyond`: the page is after the last one that can be read. */
export async function findMatches(
  reader: Reader,
  filter: Filter,
  page: Page,
): Promise<Matches | 'beyond'> {
  const since = await sinceOf(reader, filter)
  if (isUnfiltered(filter)) return await findAmongAll(reader, filter, since, page)
  return await findEitherWay(
    reader,
    filter,
    (limited) => findByWalk(limited, filter, since, page),
    (limited) => findNewest(limited, setsOf(filter, since, 'place'), page),
  )
}

/**
 * Chooses how to find a combination of filters. Postgres chooses if its statistics suffice.
 * Otherwise rows are scanned newest first, which is fast for frequent and for rare combinations.
 * Values that are frequent but rarely occur together exceed the time limit, and then use the
 * indexes.
 */
async function findEitherWay<T>(
  reader: Reader,
  filter: Filter,
  walk: (reader: Reader) => Promise<T>,
  sets: (reader: Reader) => Promise<T>,
): Promise<T> {
  if (filter.columns.length + (filter.tag === undefined ? 0 : 1) < 2) return await walk(reader)
  const found = isPlain(filter)
    ? await inTime(reader, PLAIN_MS, sets)
    : await inTime(reader, WALK_MS, walk)
  return found ?? (await byMerging(reader, sets))
}

async function findByWalk(
  reader: Reader,
  filter: Filter,
  since: Date,
  { offset, page_size }: Page,
): Promise<Matches | 'beyond'> {
  const way = walkOf(filter, since, 'place')
  if (offset > 0) return await findNewest(reader, way, { offset, page_size })
  const found = await readPlaces(reader, way, { offset, page_size: page_size + 1 })
  const places = found.slice(0, page_size)
  if (found.length <= page_size) return { places, total: found.length, exact: true }
  const total = await countMatches(reader, walkOf(filter, since, 'place'))
  if (total === undefined) return { places, total: found.length, exact: false }
  return { places, total: Math.min(total, MOST_MATCHES), exact: total <= MOST_MATCHES }
}

/** A page, and the number of matches up to the limit. */
async function findNewest(
  reader: Reader,
  { values, from, where }: Way,
  { offset, page_size }: Page,
): Promise<Matches | 'beyond'> {
  const rows = await reader.unsafe<{ total: number; at: string | null; id: string }[]>(
    `with b as materialized (
      select b.occurred_at, b.id from ${from} where ${where} ${newestFirst}
      limit ${MOST_MATCHES + 1}
    )
    select total, occurred_at::text as at, id
    from (select count(*)::int as total from b) as counted left join (
      select * from b ${newestFirst} limit ${values.put(page_size, 'bigint')}
      offset ${values.put(offset, 'bigint')}
    ) as b on true
    ${newestFirst}`,
    values.values,
  )
  const total = rows[0]?.total ?? 0
  if (offset >= MOST_MATCHES && total > MOST_MATCHES) return 'beyond'
  const places = rows.flatMap(({ at, id }) => (at === null ? [] : [{ at, id }]))
  return { places, total: Math.min(total, MOST_MATCHES), exact: total <= MOST_MATCHES }
}

/** The number of matches, up to MOST_MATCHES + 1; undefined if counting takes too long. */
async function countMatches(
  reader: Reader,
  { values, from, where }: Way,
): Promise<number | undefined> {
  return await inTime(reader, COUNT_MS, async (limited) => {
    const [row] = await limited.unsafe<{ total: number }[]>(
      `select count(*)::int as total
        from (select from ${from} where ${where} limit ${MOST_MATCHES + 1}) b`,
      values.values,
    )
    return row?.total ?? 0
  })
}

function isUnfiltered({ columns, tag }: Filter): boolean {
  return columns.length === 0 && tag === undefined
}

async function readPlaces(
  reader: Reader,
  { values, from, where }: Way,
  { offset, page_size }: Page,
) {
  const limits = `limit ${values.put(page_size, 'bigint')} offset ${values.put(offset, 'bigint')}`
  return await reader.unsafe<Place[]>(
    `select b.occurred_at::text as at, b.id from ${from} where ${where} ${newestFirst} ${limits}`,
    values.values,
  )
}

/** Without a filter, the hourly roll-up gives the number of rows and the start of the page. */
async function findAmongAll(
  reader: Reader,
  filter: Filter,
  since: Date,
  { offset, page_size }: Page,
): Promise<Matches> {
  const pieces = await readPieces(reader, since, filter.end)
  const total = pieces.reduce((sum, { requests }) => sum + requests, 0)
  if (offset >= total) return { places: [], total, exact: true }
  let skipped = 0
  let end = filter.end
  for (const piece of pieces) {
    if (skipped + piece.requests > offset) break
    skipped += piece.requests
    end = new Date(piece.start)
  }
  const places = await readPlaces(reader, walkOf({ ...filter, end }, since, 'place'), {
    offset: offset - skipped,
    page_size,
  })
  return { places, total, exact: true }
}

/** Requests between two times, newest piece first. */
async function readPieces(reader: Reader, since: Date, end: Date | undefined): Promise<Piece[]> {
  const hours = await reader.unsafe<{ start: Date; requests: number; errors: number }[]>(
    `select hour as start, request_count::float8 as requests, error_count::float8 as errors
      from "${requestLog}".request_log_hours
      where hour > $1::timestamptz - interval '1 hour' and hour < $2::text::timestamptz
      order by hour desc`,
    [since.toISOString(), end?.toISOString() ?? 'infinity'],
  )
  return await piecesOf(
    hours.map(({ start, ...counts }) => ({ start: start.getTime(), ...counts })),
    since.getTime(),
    end?.getTime() ?? Number.POSITIVE_INFINITY,
    async (from, to) => {
      const [row] = await reader.unsafe<{ requests: number; errors: number }[]>(
        `select count(*)::int as requests, (count(*) filter (where ${failedSql}))::int as errors
          from "${requestLog}".request_logs
          where occurred_at >= $1::timestamptz and occurred_at < $2::timestamptz`,
        [new Date(from).toISOString(), new Date(to).toISOString()],
      )
      return { requests: row?.requests ?? 0, errors: row?.errors ?? 0 }
    },
  )
}

export interface Histogram {
  readonly buckets: readonly Bucket[]
  /** Milliseconds since the epoch; older matches were not counted because of the limit. */
  readonly countedFrom: number | undefined
}

/**
 * Counts matches between `filter.start` and `filter.end` in buckets of `bucketMs` since the epoch.
 */
export async function countByTime(
  reader: Reader,
  filter: Filter,
  bucketMs: number,
): Promise<Histogram> {
  const since = await sinceOf(reader, filter)
  const startOf = (ms: number) => Math.floor(ms / bucketMs) * bucketMs
  if (isUnfiltered(filter) && bucketMs >= HOUR_MS) {
    const pieces = await readPieces(reader, since, filter.end)
    const buckets = pieces.map((piece) => ({ ...piece, start: startOf(piece.start) }))
    return { buckets, countedFrom: undefined }
  }
  const rows = await findEitherWay(
    reader,
    filter,
    (limited) => readHistogram(limited, walkOf(filter, since, 'outcome'), bucketMs),
    (limited) => readHistogram(limited, setsOf(filter, since, 'outcome'), bucketMs),
  )
  const counted = rows.reduce((sum, { requests }) => sum + requests, 0)
  const oldest = Math.min(...rows.map((row) => row.oldest))
  return { buckets: rows, countedFrom: counted < MOST_IN_HISTOGRAM ? undefined : oldest }
}

async function readHistogram(reader: Reader, way: Way, bucketMs: number) {
  const { values, from, where } = way
  const step = values.put(bucketMs / 1000, 'float8')
  return await reader.unsafe<(Bucket & { oldest: number })[]>(
    `select floor(extract(epoch from occurred_at)::float8 / ${step}) * ${step} * 1000 as start,
        count(*)::int as requests, (count(*) filter (where failed))::int as errors,
        (extract(epoch from min(occurred_at)) * 1000)::float8 as oldest
      from (select b.occurred_at, ${way.failed} as failed from ${from} where ${where}
        ${newestFirst} limit ${MOST_IN_HISTOGRAM}) b
      group by 1`,
    values.values,
  )
}
