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
  { key: 'left', label: 'Remaining at end of day', color: 'var(--chart-1)' },
  { key: 'ahead', label: 'Forecast', color: 'var(--chart-3)' },
]

/** What remained on each day of the window, with a forecast from the last days. */
export function BurnDown({ budget, days }: BurnDownData) {
  if (budget.window_start === null || budget.window_end === null) return null
  const oneDay = Date.parse(budget.window_end) - Date.parse(budget.window_start) <= DAY_MS
  return (
    <div className="grid gap-2">
      {oneDay ? (
        <p className="text-muted">Daily budgets have no burn-down chart.</p>
      ) : (
        <TimeSeries
          label="Remaining budget by day"
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
        Forecast from the average daily spend of the last {RECENT_DAYS} days in this window. It
        needs recent spend.
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

/** Forecast points for the remaining days, if there was recent spend. */
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
