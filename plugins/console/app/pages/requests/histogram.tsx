import { useGet } from '@/api/query.ts'
import { badColor } from '@/charts/palette.ts'
import { TimeSeries } from '@/charts/time-series.tsx'
import { count, counted, dateTime, percent, shareOf, short } from '@/lib/format.ts'
import type { Change, queryOf } from '@/pages/requests/query.ts'
import { Card } from '@/ui/card.tsx'
import { Skeleton } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'

const HOUR_MS = 3_600_000
const USUAL_HOURS = 31 * 24
const TAIL_MS = 10_000

const series = [
  { key: 'ok', label: 'Successful' },
  { key: 'errors', label: 'Errors', color: badColor },
]

export interface HistogramProps {
  readonly query: ReturnType<typeof queryOf>
  readonly tail: boolean
  readonly onRange: Change
}

/** The number of requests over time; a click on a bar sets the time range. */
export function Histogram({ query, tail, onRange }: HistogramProps) {
  const histogram = useGet(
    '/api/v1/admin/observability/request-logs/histogram',
    { query: { ...query, occurred_at_start: query.occurred_at_start || usualStart(query) } },
    { placeholderData: (before) => before, refetchInterval: tail ? TAIL_MS : false },
  )
  const { data } = histogram
  return (
    <Card
      title="Requests over time"
      note={
        data !== undefined && (
          <>
            {dateTime(data.window_start)} – {dateTime(data.window_end)}, per{' '}
            {lengthOf(data.bucket_seconds)}
          </>
        )
      }
      actions={
        data !== undefined && (
          <span className="text-xs text-muted">
            {counted(data.request_count, 'request')}, {counted(data.error_count, 'error')} (
            {percent(shareOf(data.error_count, data.request_count))})
          </span>
        )
      }
    >
      <Loaded query={histogram} skeleton={<Skeleton className="h-36" />}>
        {({ buckets, bucket_seconds, counted_from }) => (
          <>
            <TimeSeries
              label={`Requests per ${lengthOf(bucket_seconds)}`}
              kind="bar"
              height={130}
              series={series}
              format={count}
              axis={short}
              points={buckets.map((bucket) => ({
                at: bucket.bucket_start,
                values: {
                  ok: bucket.request_count - bucket.error_count,
                  errors: bucket.error_count,
                },
              }))}
              {...(bucket_seconds > 60 && {
                onPick: (at: string) =>
                  onRange({
                    occurred_at_start: new Date(at).toISOString(),
                    occurred_at_end: new Date(
                      new Date(at).getTime() + bucket_seconds * 1000,
                    ).toISOString(),
                  }),
              })}
            />
            {counted_from !== null && (
              <p className="mt-2 text-xs text-muted">
                Only the newest matches since {dateTime(counted_from)} are counted.
              </p>
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}

/** 31 days before the end of the range, rounded to the hour, so that the query stays cacheable. */
function usualStart({ occurred_at_end: end }: HistogramProps['query']): string {
  const until = end === '' ? Date.now() : Date.parse(end)
  return new Date((Math.floor(until / HOUR_MS) - USUAL_HOURS) * HOUR_MS).toISOString()
}

function lengthOf(seconds: number): string {
  const [size, unit] =
    seconds >= 86_400 ? [86_400, 'day'] : seconds >= 3600 ? [3600, 'hour'] : [60, 'minute']
  const n = seconds / size
  return n === 1 ? unit : `${n} ${unit}s`
}
