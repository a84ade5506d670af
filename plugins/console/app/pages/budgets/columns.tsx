import { cadenceNames, modelOf, usedShare } from '@/lib/budgets.ts'
import { NOT_KNOWN, percent, usd, usdExact } from '@/lib/format.ts'
import { Projection, State } from '@/pages/budgets/state.tsx'
import { type Budget, ownerName, sourceNames } from '@/pages/budgets/words.ts'
import { Meter } from '@/ui/badge.tsx'
import type { Column } from '@/ui/data-table.tsx'
import { OwnerName } from '@/ui/owner-name.tsx'

function Money({ amount }: { amount: string | null | undefined }) {
  if (amount === null || amount === undefined)
    return <span className="text-muted">{NOT_KNOWN}</span>
  return <span title={usdExact(amount)}>{usd(amount)}</span>
}

export const columns: readonly Column<Budget>[] = [
  {
    key: 'owner',
    header: 'Owner',
    width: '2fr',
    sort: ownerName,
    cell: (budget) => (
      <OwnerName kind={budget.owner_kind}>
        <span className="font-medium">{ownerName(budget)}</span>
      </OwnerName>
    ),
  },
  {
    key: 'model',
    header: 'Model',
    width: '1.2fr',
    sort: ({ scope }) => modelOf(scope),
    cell: ({ scope }) => (
      <span className={scope.kind === 'user_model' ? '' : 'text-muted'}>{modelOf(scope)}</span>
    ),
  },
  {
    key: 'amount',
    header: 'Amount',
    width: '9.25rem',
    align: 'right',
    sort: ({ settings }) => Number(settings?.amount_usd ?? 0),
    cell: ({ settings }) =>
      settings !== null && (
        <>
          <Money amount={settings.amount_usd} />{' '}
          <span className="text-muted">{cadenceNames[settings.cadence]}</span>
        </>
      ),
  },
  {
    key: 'spent',
    header: 'Spent',
    align: 'right',
    width: '6.75rem',
    sort: ({ current_window_spend_usd }) => Number(current_window_spend_usd ?? 0),
    cell: ({ current_window_spend_usd }) => <Money amount={current_window_spend_usd} />,
  },
  {
    key: 'remaining',
    header: 'Remaining',
    align: 'right',
    width: '6.75rem',
    sort: ({ remaining_usd }) => Number(remaining_usd ?? 0),
    cell: ({ remaining_usd }) => <Money amount={remaining_usd} />,
  },
  {
    key: 'used',
    header: 'Used',
    width: '7rem',
    sort: usedShare,
    cell: (budget) =>
      budget.settings !== null && (
        <span className="flex items-center gap-2">
          <Meter share={usedShare(budget)} label={`Used by ${ownerName(budget)}`} />
          <span className="w-12 shrink-0 text-right text-xs text-muted">
            {percent(Math.max(0, usedShare(budget)))}
          </span>
        </span>
      ),
  },
  {
    key: 'projection',
    header: 'Runs out',
    width: '9rem',
    sort: ({ projected_exhaustion_at }) => projected_exhaustion_at ?? '~',
    cell: (budget) => <Projection budget={budget} />,
  },
  { key: 'state', header: 'State', width: '6.5rem', cell: (budget) => <State budget={budget} /> },
  {
    key: 'limit',
    header: 'Limit',
    width: '4rem',
    sort: ({ settings }) => Number(settings?.hard_limit ?? false),
    cell: ({ settings }) => settings !== null && (settings.hard_limit ? 'hard' : 'soft'),
  },
  {
    key: 'source',
    header: 'Source',
    width: '7rem',
    sort: ({ budget_source }) => sourceNames[budget_source],
    cell: ({ budget_source }) => (
      <span title={sourceNames[budget_source]}>{sourceNames[budget_source]}</span>
    ),
  },
]
