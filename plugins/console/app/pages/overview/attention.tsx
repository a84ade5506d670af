import { Link } from '@tanstack/react-router'
import { cadenceNames } from '@/lib/budgets.ts'
import { counted, percent, usd } from '@/lib/format.ts'
import type { Overview } from '@/pages/overview/totals.tsx'
import { Badge, Meter } from '@/ui/badge.tsx'
import { buttonStyle } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { Notice } from '@/ui/notice.tsx'

/** What needs attention: calls without a price or usage, and budgets that are almost used up. */
export function Attention({ overview }: { overview: Overview }) {
  const { range, totals, budgets_near_end: budgets } = overview
  return (
    <>
      {totals.unpriced_count > 0 && (
        <Notice
          tone="warn"
          title={`${counted(totals.unpriced_count, 'request')} ${totals.unpriced_count === 1 ? 'has' : 'have'} no price: ${percent(totals.unpriced_share)} of the ledger`}
          action={
            <Link
              to="/spend"
              search={range === '31d' ? { days: '30' } : {}}
              className={buttonStyle({ size: 'sm' })}
            >
              View in Spend
            </Link>
          }
        >
          They count as $0, in budgets as well. Set a price list for their provider (
          <code className="font-mono">pricing_provider_id</code>), or a price under{' '}
          <code className="font-mono">pricing.overrides</code> in the config file.
        </Notice>
      )}
      {totals.usage_missing_count > 0 && (
        <Notice
          title={`${counted(totals.usage_missing_count, 'request')} without usage: ${percent(totals.unmetered_share)} of the ledger`}
        >
          The provider reported no token counts. For streams, set{' '}
          <code className="font-mono">supports_stream_usage</code> on the route.
        </Notice>
      )}
      {budgets.length > 0 && (
        <Card title="Budgets about to run out" note="20% or less left" padded={false}>
          <ul className={budgets.length > 1 ? 'grid md:grid-cols-2' : undefined}>
            {budgets.map((budget) => (
              <li
                key={budget.budget_id}
                className="grid content-start gap-1.5 border-b border-line px-4 py-2.5 last:border-b-0 md:odd:not-last:border-r"
              >
                <span className="flex flex-wrap items-center gap-x-2">
                  <Link
                    to="/budgets"
                    search={{ [`${budget.owner_kind}_id`]: budget.owner_id }}
                    className="min-w-0 truncate font-medium hover:text-accent-text hover:underline"
                  >
                    {budget.owner_name ?? 'deleted owner'}
                  </Link>
                  <Badge tone={budget.used_share >= 1 ? 'bad' : 'warn'}>
                    {budget.used_share >= 1 ? 'used up' : `${percent(budget.used_share)} used`}
                  </Badge>
                  <span className="ml-auto text-muted">
                    {usd(budget.current_window_spend_usd)} of {usd(budget.amount_usd)}{' '}
                    {cadenceNames[budget.cadence]}
                  </span>
                </span>
                <Meter
                  share={budget.used_share}
                  label={`Budget of ${budget.owner_name ?? 'deleted owner'}`}
                />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  )
}
