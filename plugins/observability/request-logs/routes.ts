import { type AdminRoute, adminRoute, listOf, pageOf, pageQuery } from 'model-gateway/admin'
import { type Clock, GatewayError, strictObject, Type } from 'model-gateway/plugin'
import type { Note } from '../../_shared/note.ts'
import { Id, ownId } from '../../_shared/own-id.ts'
import { invalidQuery } from '../../_shared/query.ts'
import { Count, Instant, nullable } from '../../_shared/schema.ts'
import { tag } from '../_shared/frame.ts'
import type { Reports } from '../_shared/store.ts'
import { filterQuery, readFilter } from './filter.ts'
import { countByTime, findMatches, MOST_IN_HISTOGRAM, MOST_MATCHES } from './store.ts'
import { readDetail, readSummaries } from './summary-store.ts'
import { RequestLog, RequestLogDetail } from './wire.ts'

const DAY_MS = 86_400_000
const MOST_DAYS = 400
const MOST_BUCKETS = 60
/** Possible bucket lengths in seconds. */
const STEPS = [60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800] as const

export function requestLogRoutes(reports: Reports, clock: Clock, note: Note): AdminRoute[] {
  const page = listOf(RequestLog)
  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/observability/request-logs',
      audience: 'platform_admin',
      tag,
      summary: 'Finished requests, newest first.',
      query: strictObject({ ...pageQuery, ...filterQuery }),
      result: Type.Object({
        ...page.properties,
        total_exact: Type.Boolean({
          description: `false: total is a lower bound; with filters, at most ${MOST_MATCHES} matches are counted and can be paged through`,
        }),
      }),
      async handle({ query }) {
        const { offset, ...wire } = pageOf(query)
        const { page: _, page_size: __, ...rest } = query
        const filter = readFilter(rest)
        return await reports.read(async (reader) => {
          const matches = await findMatches(reader, filter, { ...wire, offset })
          if (matches === 'beyond') {
            throw invalidQuery(
              'page',
              `with filters, only the newest ${MOST_MATCHES} matches can be paged through; set occurred_at_end to continue`,
            )
          }
          const { places, total, exact } = matches
          const items = await readSummaries(reader, places)
          return { items, ...wire, total, total_exact: exact }
        })
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/observability/request-logs/histogram',
      audience: 'platform_admin',
      tag,
      summary: 'Finished requests over time.',
      query: strictObject(filterQuery),
      result: Type.Object({
        window_start: Instant,
        window_end: Instant,
        bucket_seconds: Count,
        counted_from: nullable(
          Type.String({
            format: 'date-time',
            description: `The time from which matches are counted, if more than ${MOST_IN_HISTOGRAM} match; null: all are counted`,
          }),
        ),
        request_count: Count,
        error_count: Type.Integer({
          description: 'Failed requests, without those that the caller aborted.',
        }),
        buckets: Type.Array(
          Type.Object({ bucket_start: Instant, request_count: Count, error_count: Count }),
        ),
      }),
      async handle({ query }) {
        const filter = readFilter(query)
        const end = filter.end ?? clock.now()
        const start = filter.start ?? new Date(end.getTime() - DAY_MS)
        if (start >= end) throw invalidQuery('occurred_at_start', 'must be before now')
        if (end.getTime() - start.getTime() > MOST_DAYS * DAY_MS) {
          throw invalidQuery(
            'occurred_at_start',
            `must be at most ${MOST_DAYS} days before the end`,
          )
        }
        const bucketMs = stepOf(start, end)
        const { buckets, countedFrom } = await reports.read((reader) =>
          countByTime(reader, { ...filter, start, end }, bucketMs),
        )
        const first = Math.floor(start.getTime() / bucketMs)
        const series = Array.from(
          { length: Math.ceil(end.getTime() / bucketMs) - first },
          (_, i) => ({
            bucket_start: new Date((first + i) * bucketMs).toISOString(),
            request_count: 0,
            error_count: 0,
          }),
        )
        for (const bucket of buckets) {
          const found = series[bucket.start / bucketMs - first]
          if (found === undefined) continue
          found.request_count += bucket.requests
          found.error_count += bucket.errors
        }
        return {
          window_start: start.toISOString(),
          window_end: end.toISOString(),
          bucket_seconds: bucketMs / 1000,
          counted_from: countedFrom === undefined ? null : new Date(countedFrom).toISOString(),
          request_count: series.reduce((sum, bucket) => sum + bucket.request_count, 0),
          error_count: series.reduce((sum, bucket) => sum + bucket.error_count, 0),
          buckets: series,
        }
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/observability/request-logs/{request_log_id}',
      audience: 'platform_admin',
      tag,
      summary: 'One finished request, with its attempts and its sanitised payload.',
      params: Type.Object({ request_log_id: Id }),
      result: RequestLogDetail,
      async handle({ params, caller, requestId }) {
        const detail = await reports.read((reader) => readDetail(reader, params.request_log_id))
        if (detail === undefined) {
          throw new GatewayError('not_found', `request log ${params.request_log_id} does not exist`)
        }
        if (detail.payload !== null) {
          const about = { objectKind: 'request_log', objectId: ownId(params.request_log_id) }
          note({ actor: caller, requestId, action: 'request_log.payload_read', ...about })
        }
        return detail
      },
    }),
  ]
}

/** Bucket length in milliseconds that keeps the number of buckets below the limit. */
function stepOf(start: Date, end: Date): number {
  const seconds = (end.getTime() - start.getTime()) / 1000
  const step = STEPS.find((length) => seconds / length <= MOST_BUCKETS) ?? 604_800
  return step * 1000
}
