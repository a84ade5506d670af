import {
  Area,
  AreaChart,
  Bar,
  BarChart,
  CartesianGrid,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts'
import { colorOf } from '@/charts/palette.ts'
import { ChartTip } from '@/charts/tip.tsx'
import { day, time } from '@/lib/format.ts'

export interface Series {
  readonly key: string
  /** The name in the legend. */
  readonly label: string
  /** A CSS colour; default: the next one of the palette. */
  readonly color?: string
}

/** The values at one time; null: unknown. */
export interface Point {
  readonly at: string
  readonly values: Readonly<Record<string, number | null>>
}

export interface TimeSeriesProps {
  /** A description for screen readers. */
  readonly label: string
  /** Areas and bars are stacked; lines are not. */
  readonly kind: 'line' | 'area' | 'bar'
  readonly points: readonly Point[]
  readonly series: readonly Series[]
  /** Formats a value in the tooltip and in the table for screen readers. */
  readonly format: (value: number) => string
  /** Formats a value on the axis, shorter; default: `format`. */
  readonly axis?: (value: number) => string
  /** Formats a time in the tooltip; default: day and time, UTC. */
  readonly moment?: (at: string) => string
  readonly height?: number
  /** Whether to show a legend if there are several series. Default true. */
  readonly legend?: boolean
  /** Called with the time of the clicked point. */
  readonly onPick?: (at: string) => void
}

const usualMoment = (at: string) => `${day(at)}, ${time(at)} UTC`

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

function beginsDay(at: string, before: Point | undefined): boolean {
  return before === undefined ? Date.parse(at) % DAY_MS === 0 : day(at) !== day(before.at)
}

/** Whether the points span too little time to label them by day. */
function isWithinDay(points: readonly Point[]): boolean {
  const [first, second] = points
  const last = points.at(-1)
  if (first === undefined || second === undefined || last === undefined) return false
  const from = (point: Point) => Date.parse(point.at) - Date.parse(first.at)
  return from(last) < 36 * HOUR_MS && from(second) < 12 * HOUR_MS
}

/** A chart of values over time, with a table of the values for screen readers. */
export function TimeSeries(props: TimeSeriesProps) {
  const { label, kind, points, series, format, height = 200, legend = true, onPick } = props
  const { axis = format, moment = usualMoment } = props
  // One tick per day, at its first point.
  const days = points.map(({ at }) => at).filter((at, index) => beginsDay(at, points[index - 1]))
  const data = points.map(({ at, values }) => ({ at, ...values }))
  const shared = {
    data,
    // The right margin leaves room for half of the last tick's label.
    margin: { top: 8, right: 20, bottom: 0, left: 0 },
    accessibilityLayer: true,
    title: label,
    ...(onPick !== undefined && {
      onClick: ({ activeLabel }: { activeLabel?: string | number | undefined }) => {
        if (activeLabel !== undefined) onPick(String(activeLabel))
      },
      className: 'cursor-pointer',
    }),
  }
  const frame = (
    <>
      <CartesianGrid stroke="var(--line)" vertical={false} />
      <XAxis
        dataKey="at"
        {...(days.length > 1 && { ticks: days })}
        tickFormatter={isWithinDay(points) ? time : day}
        tick={{ fill: 'var(--muted)', fontSize: 11 }}
        tickLine={false}
        axisLine={{ stroke: 'var(--line)' }}
        minTickGap={24}
      />
      <YAxis
        tickFormatter={axis}
        tick={{ fill: 'var(--muted)', fontSize: 11 }}
        tickLine={false}
        axisLine={false}
        width="auto"
      />
      <Tooltip
        isAnimationActive={false}
        cursor={kind === 'bar' ? { fill: 'var(--raised)' } : { stroke: 'var(--line-strong)' }}
        content={(tip) => <ChartTip tip={tip} moment={moment} format={format} />}
      />
    </>
  )
  const painted = series.map((one, index) => ({ ...one, color: one.color ?? colorOf(index) }))
  const common = { isAnimationActive: false, type: 'linear' as const, strokeWidth: 1.75 }
  return (
    <figure className="m-0 grid gap-2">
      <div style={{ height }}>
        <ResponsiveContainer width="100%" height="100%">
          {kind === 'line' ? (
            <LineChart {...shared}>
              {frame}
              {painted.map(({ key, label, color }) => (
                <Line
                  {...common}
                  key={key}
                  dataKey={key}
                  name={label}
                  stroke={color}
                  dot={false}
                  connectNulls
                />
              ))}
            </LineChart>
          ) : kind === 'area' ? (
            <AreaChart {...shared}>
              {frame}
              {painted.map(({ key, label, color }) => (
                <Area
                  {...common}
                  key={key}
                  dataKey={key}
                  name={label}
                  stackId="all"
                  stroke={color}
                  fill={color}
                  fillOpacity={0.22}
                />
              ))}
            </AreaChart>
          ) : (
            <BarChart {...shared} barCategoryGap="20%">
              {frame}
              {painted.map(({ key, label, color }) => (
                <Bar
                  key={key}
                  dataKey={key}
                  name={label}
                  stackId="all"
                  fill={color}
                  isAnimationActive={false}
                />
              ))}
            </BarChart>
          )}
        </ResponsiveContainer>
      </div>
      {legend && series.length > 1 && <Legend series={painted} />}
      {/* A wrapper, because the table itself does not shrink below the width of its words. */}
      <div className="sr-only">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ key, label }) => (
                <th key={key} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map(({ at, values }) => (
              <tr key={at}>
                <th scope="row">{moment(at)}</th>
                {series.map(({ key }) => (
                  <td key={key}>{values[key] == null ? 'n/a' : format(values[key])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

function Legend({ series }: { series: readonly (Series & { color: string })[] }) {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {series.map(({ key, label, color }) => (
        <li key={key} className="flex min-w-0 items-center gap-1.5">
          <span aria-hidden className="size-2 shrink-0 rounded-sm" style={{ background: color }} />
          <span className="truncate">{label}</span>
        </li>
      ))}
    </ul>
  )
}
