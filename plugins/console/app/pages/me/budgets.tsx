import { type Data, useGet } from '@/api/query.ts'
import { leftText, modelOf, usedShare } from '@/lib/budgets.ts'
import { date, percent, usd, usdExact } from '@/lib/format.ts'
import { Badge, Meter } from '@/ui/badge.tsx'
import { Card } from '@/ui/card.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded, Page } from '@/ui/page.tsx'

type Budget = Data<'/api/v1/me/budgets'>['items'][number]

const names = { daily: 'Today', weekly: 'This week', monthly: 'This month' } as const

/** The budgets of the signed-in user. */
export default function MyBudgets() {
  const query = useGet('/api/v1/me/budgets', { query: { page_size: 200 } })
  return (
    <Page title="My budgets" note="Your remaining budget. Days start at midnight UTC">
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Card>
              <EmptyState title="No budget">
                Your spend is not limited. If an admin creates a budget for you, it appears here.
              </EmptyState>
            </Card>
          ) : (
            <ul className="grid gap-4 lg:grid-cols-2">
              {items.map((budget) => (
                <li key={budget.budget_id}>
                  <BudgetCard budget={budget} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  )
}

function BudgetCard({ budget }: { budget: Budget }) {
  const { settings, scope, remaining_usd: left, current_window_spend_usd: spent } = budget
  if (settings === null || left === null) return null
  const used = usedShare(budget)
  const name = `${names[settings.cadence]}, ${modelOf(scope)}`
  return (
    <Card title={name} actions={<State budget={budget} />}>
      <div className="grid gap-2">
        <p>
          <span className="text-xl font-semibold tracking-tight" title={usdExact(left)}>
            {leftText(left)}
          </span>{' '}
          <span className="text-muted">
            of <span title={usdExact(settings.amount_usd)}>{usd(settings.amount_usd)}</span>
          </span>
        </p>
        <Meter share={used} label={`Used: ${name}`} />
        <p className="text-muted">
          <span title={usdExact(spent ?? '0')}>{usd(spent ?? '0')}</span> spent,{' '}
          {percent(Math.max(0, used))} used. {endOf(budget)}
        </p>
      </div>
    </Card>
  )
}

function State({ budget: { exhausted, alert_ready } }: { budget: Budget }) {
  if (exhausted) return <Badge tone="bad">used up</Badge>
  return alert_ready ? <Badge tone="warn">≤ 20% left</Badge> : <Badge tone="good">ok</Badge>
}

/** What happens at the end of the budget and of its window. */
function endOf(budget: Budget): string {
  const { window_end, projected_exhaustion_at: at, exhausted, settings } = budget
  const fresh = window_end === null ? '' : `Resets on ${date(window_end)}.`
  if (exhausted) return `Calls are rejected until the reset. ${fresh}`
  if (settings?.hard_limit === false) return `Calls continue when it is used up. ${fresh}`
  return at === null ? fresh : `Forecast: used up by ${date(at)}. ${fresh}`
}
