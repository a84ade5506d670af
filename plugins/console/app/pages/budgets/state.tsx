import { ago, date, NOT_KNOWN } from '@/lib/format.ts'
import type { Budget } from '@/pages/budgets/words.ts'
import { Badge } from '@/ui/badge.tsx'

/** The state of a budget. */
export function State({ budget: { active, exhausted, alert_ready } }: { budget: Budget }) {
  if (!active) return <Badge>inactive</Badge>
  if (exhausted) return <Badge tone="bad">used up</Badge>
  return alert_ready ? <Badge tone="warn">≤ 20% left</Badge> : <Badge tone="good">ok</Badge>
}

/** The forecast date on which the budget runs out. */
export function Projection({ budget }: { budget: Budget }) {
  const { projected_exhaustion_at: at, recent_usd, window_end, active } = budget
  if (!active || window_end === null) return <span className="text-muted">{NOT_KNOWN}</span>
  if (budget.exhausted || Number(budget.remaining_usd) <= 0) {
    return <span className="text-bad">used up</span>
  }
  if (at !== null) {
    return (
      <span className="text-warn" title={ago(at)}>
        {date(at)}
      </span>
    )
  }
  return (
    <span className="text-muted">
      {Number(recent_usd) === 0 ? 'no recent spend' : 'not in this window'}
    </span>
  )
}
