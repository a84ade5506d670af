import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api, take } from '@/api/client.ts'
import { invalidate, useGet } from '@/api/query.ts'
import { cadenceNames, modelOf } from '@/lib/budgets.ts'
import { date, dateTime, usd, usdExact } from '@/lib/format.ts'
import { AlertList } from '@/pages/budgets/alerts.tsx'
import { BurnDown } from '@/pages/budgets/burn-down.tsx'
import { State } from '@/pages/budgets/state.tsx'
import { type Budget, ownerName, requestsOf, sourceNames } from '@/pages/budgets/words.ts'
import { Button, buttonStyle } from '@/ui/button.tsx'
import { Card, Stat, Stats } from '@/ui/card.tsx'
import { Sheet } from '@/ui/dialog.tsx'
import { DoButton } from '@/ui/do-button.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Pagination } from '@/ui/pagination.tsx'

export interface BudgetSheetProps {
  readonly budgetId: string | undefined
  readonly onClose: () => void
  readonly onEdit: (budget: Budget) => void
}

/** One budget, with its burn-down, alerts and actions. */
export function BudgetSheet({ budgetId = '', onClose, onEdit }: BudgetSheetProps) {
  const query = useGet(
    '/api/v1/admin/spend/budgets/{budget_id}/burn-down',
    { path: { budget_id: budgetId } },
    { enabled: budgetId !== '' },
  )
  const budget = query.data?.budget
  return (
    <Sheet
      open={budgetId !== ''}
      onClose={onClose}
      title={budget === undefined ? 'Budget' : `Budget of ${ownerName(budget)}`}
      description={budget && `${modelOf(budget.scope)} · ${sourceNames[budget.budget_source]}`}
    >
      <Loaded query={query}>
        {(data) => (
          <div className="grid gap-4">
            <Actions budget={data.budget} onEdit={onEdit} />
            {data.budget.settings === null ? (
              <p>
                This budget is inactive. Defaults from the config do not apply to this scope until
                you create a budget.
              </p>
            ) : (
              <>
                <Facts budget={data.budget} />
                <Card title="Current window" note={windowOf(data.budget)}>
                  <BurnDown {...data} />
                </Card>
              </>
            )}
            <Told budgetId={data.budget.budget_id} />
          </div>
        )}
      </Loaded>
    </Sheet>
  )
}

function windowOf({ window_start, window_end }: Budget): ReactNode {
  if (window_start === null || window_end === null) return undefined
  return `${date(window_start)} – ${dateTime(window_end)}`
}

function Facts({ budget }: { budget: Budget }) {
  const { settings, current_window_spend_usd: spent, remaining_usd: left } = budget
  if (settings === null) return null
  const rejected = budget.current_window_rejected_usd ?? '0'
  return (
    <Stats className="md:grid-cols-4 xl:grid-cols-4">
      <Stat
        label="Amount"
        value={usd(settings.amount_usd)}
        exact={usdExact(settings.amount_usd)}
        note={cadenceNames[settings.cadence]}
      />
      <Stat
        label="Spent"
        value={usd(spent ?? '0')}
        exact={usdExact(spent ?? '0')}
        note={rejected === '0' ? 'nothing rejected' : `${usd(rejected)} rejected`}
      />
      <Stat
        label="Remaining"
        value={usd(left ?? '0')}
        exact={usdExact(left ?? '0')}
        tone={budget.exhausted ? 'bad' : budget.alert_ready ? 'warn' : 'plain'}
        note={<State budget={budget} />}
      />
      <Stat
        label="Limit"
        value={settings.hard_limit ? 'hard' : 'soft'}
        note={[
          settings.hard_limit ? 'rejects calls over the limit' : 'alerts only',
          ...(settings.unpriced === 'refuse' ? ['rejects calls without a price'] : []),
        ].join('; ')}
      />
    </Stats>
  )
}

interface ActionsProps {
  readonly budget: Budget
  readonly onEdit: (budget: Budget) => void
}

function Actions({ budget, onEdit }: ActionsProps) {
  const page = budget.owner_kind === 'user' ? 'users' : 'service-accounts'
  return (
    <div className="flex flex-wrap gap-2">
      <Button kind="primary" size="sm" onClick={() => onEdit(budget)}>
        {budget.active ? 'Edit' : 'Create again'}
      </Button>
      {budget.active && (
        <DoButton
          action="Deactivate"
          title={`Deactivate the budget of ${ownerName(budget)}?`}
          consequence={<Consequence budget={budget} />}
          done="Budget deactivated"
          act={() =>
            take(
              api.POST('/api/v1/admin/spend/budgets/deactivate', { body: { scope: budget.scope } }),
            )
          }
          invalidate={invalidateBudgets}
        />
      )}
      <Link to="/requests" search={requestsOf(budget)} className={buttonStyle({ size: 'sm' })}>
        View requests
      </Link>
      {budget.owner_name !== null && (
        <Link
          to={`/identity/${page}/${budget.owner_id}` as '/identity/users'}
          className={buttonStyle({ size: 'sm' })}
        >
          {budget.owner_kind === 'user' ? 'View user' : 'View service account'}
        </Link>
      )}
    </div>
  )
}

/** What deactivating does to the owner's calls and to later configs. */
function Consequence({ budget }: { budget: Budget }) {
  const name = ownerName(budget)
  return (
    <ul className="grid list-disc gap-1.5 pl-5">
      {budget.scope.kind === 'service_account' ? (
        <li>
          Service accounts need an active budget: all API keys of {name} stop working immediately,
          until you create a budget again.
        </li>
      ) : (
        <li>
          This budget ({modelOf(budget.scope)}) no longer limits {name}. Other budgets of the user
          still apply.
        </li>
      )}
      <li>
        The config file does not bring the budget back, now or after a reload. Only creating it here
        or through the API does.
      </li>
      <li>Past spend stays in the ledger, and counts if you create a budget in the same window.</li>
    </ul>
  )
}

const ALERTS = 20

function Told({ budgetId }: { budgetId: string }) {
  const [page, setPage] = useState(1)
  const query = useGet(
    '/api/v1/admin/spend/budget-alerts',
    { query: { budget_id: budgetId, page, page_size: ALERTS } },
    { placeholderData: (before) => before },
  )
  return (
    <Card title="Alerts" note="raised when 20% or less was left" padded={false}>
      <Loaded query={query}>
        {({ items, total }) =>
          total === 0 ? (
            <p className="px-4 py-3 text-muted">No alerts for this budget.</p>
          ) : (
            <>
              <AlertList alerts={items} />
              {total > ALERTS && (
                <Pagination page={page} pageSize={ALERTS} total={total} onPage={setPage} />
              )}
            </>
          )
        }
      </Loaded>
    </Card>
  )
}

/** Refetches lists, burn-downs and the budgets on the overview. */
export function invalidateBudgets(): Promise<void> {
  return invalidate(
    '/api/v1/admin/spend/budgets',
    '/api/v1/admin/spend/budgets/{budget_id}/burn-down',
    '/api/v1/admin/overview',
    '/api/v1/me/budgets',
  )
}
