import { badColor } from '@/charts/palette.ts'
import { TimeSeries, type TimeSeriesProps } from '@/charts/time-series.tsx'
import { count, duration, short, usdOf, usdShort } from '@/lib/format.ts'
import type { Overview } from '@/pages/overview/totals.tsx'
import { Card } from '@/ui/card.tsx'

type Bucket = Overview['series'][number]
type Chart = Pick<TimeSeriesProps, 'label' | 'kind' | 'series' | 'format' | 'axis'> & {
  readonly values: (bucket: Bucket) => Readonly<Record<string, number | null>>
}

const charts: readonly Chart[] = [
  {
    label: 'Requests',
    kind: 'bar',
    series: [
      { key: 'ok', label: 'Successful' },
      { key: 'errors', label: 'Errors', color: badColor },
    ],
    format: count,
    axis: short,
    values: (bucket) => ({
      ok: bucket.request_count - bucket.error_count,
      errors: bucket.error_count,
    }),
  },
  {
    label: 'Spend',
    kind: 'area',
    series: [{ key: 'spend', label: 'Spend', color: 'var(--chart-2)' }],
    format: usdOf,
    axis: usdShort,
    values: (bucket) => ({ spend: Number(bucket.spend_usd) }),
  },
  {
    label: 'Tokens',
    kind: 'area',
    series: [{ key: 'tokens', label: 'Tokens', color: 'var(--chart-5)' }],
    format: count,
    axis: short,
    values: (bucket) => ({ tokens: bucket.total_tokens }),
  },
  {
    label: 'Latency',
    kind: 'line',
    series: [
      { key: 'p50', label: 'p50', color: 'var(--chart-1)' },
      { key: 'p95', label: 'p95', color: 'var(--chart-3)' },
    ],
    format: duration,
    values: (bucket) => ({ p50: bucket.latency_p50_ms, p95: bucket.latency_p95_ms }),
  },
]

export function Charts({ overview }: { overview: Overview }) {
  const note = `per ${overview.bucket_hours} hours`
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      {charts.map(({ values, ...chart }) => (
        <Card key={chart.label} title={chart.label} note={note}>
          <TimeSeries
            {...chart}
            label={`${chart.label} ${note}`}
            points={overview.series.map((bucket) => ({
              at: bucket.bucket_start,
              values: values(bucket),
            }))}
          />
        </Card>
      ))}
    </div>
  )
}
