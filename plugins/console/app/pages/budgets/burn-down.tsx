import type { Data } from '@/api/query.ts'
import { TimeSeries } from '@/charts/time-series.tsx'
import { date, usdOf, usdShort } from '@/lib/format.ts'
import { Projection } from '@/pages/budgets/state.tsx'
import type { Budget } from '@/pages/budgets/words.ts'

export type BurnDownData = Data<'/api/v1/admin/spend/budgets/{budget_id}/burn-down'>

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const RECENT_DAYS = 7
const series = [
  { key: 'left', label: 'Left at the end of the day', color: 'var(--chart-1)' },
  { key: 'ahead', label: 'If it goes on like this', color: 'var(--chart-3)' },
]

/** What was left on each day of the window, and would be if it goes on as in the last days. */
export function BurnDown({ budget, days }: BurnDownData) {
  if (budget.window_start === null || budget.window_end === null) return null
  const oneDay = Date.parse(budget.window_end) - Date.parse(budget.window_start) <= DAY_MS
  return (
    <div className="grid gap-2">
      {oneDay ? (
        <p className="text-muted">A window of one day has no days to compare.</p>
      ) : (
        <TimeSeries
          label="Left of the budget by day"
          kind="line"
          height={190}
          series={series}
          points={pointsOf(budget, days)}
          format={usdOf}
          axis={(value) => (value < 0 ? `-${usdShort(-value)}` : usdShort(value))}
          moment={date}
        />
      )}
      <p>
        <span className="text-muted">Runs out: </span>
        <Projection budget={budget} />
      </p>
      <p className="text-xs text-muted">
        That is what is left, divided by the average of the last {RECENT_DAYS} days of this window,
        today as far as it has gone. Without spend in these days there is no date.
      </p>
    </div>
  )
}

function pointsOf(budget: Budget, days: BurnDownData['days']) {
  const points = days.map(({ day, remaining_usd }, n) => ({
    at: `${day}T00:00:00.000Z`,
    values: {
      left: Number(remaining_usd),
      ahead: n === days.length - 1 ? Number(remaining_usd) : null,
    },
  }))
  return [...points, ...aheadOf(budget)]
}

/** The days that are still to come, when something was spent lately. */
function aheadOf(budget: Budget, now = Date.now()) {
  const { window_start, window_end, recent_usd, remaining_usd } = budget
  const start = Date.parse(window_start ?? '')
  const end = Date.parse(window_end ?? '')
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const elapsed = Math.max(HOUR_MS, now - Math.max(start, today - (RECENT_DAYS - 1) * DAY_MS))
  const perMs = Number(recent_usd) / elapsed
  const left = Number(remaining_usd)
  const count = Math.max(0, (end - today) / DAY_MS - 1)
  return Array.from({ length: count }, (_, n) => {
    const at = today + (n + 1) * DAY_MS
    const ahead = perMs > 0 && left > 0 ? Math.max(0, left - perMs * (at + DAY_MS - now)) : null
    return { at: new Date(at).toISOString(), values: { left: null, ahead } }
  })
}
