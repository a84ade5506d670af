import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { isNarrowed, useFilters, useSubPath } from '@/lib/filters.ts'
import { Alerts } from '@/pages/budgets/alerts.tsx'
import { BudgetForm } from '@/pages/budgets/budget-form.tsx'
import { BudgetSheet } from '@/pages/budgets/budget-sheet.tsx'
import { columns } from '@/pages/budgets/columns.tsx'
import { cleared, FilterBar, type Values } from '@/pages/budgets/filter-bar.tsx'
import { type Budget, filters } from '@/pages/budgets/words.ts'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { ownerOf } from '@/ui/owner-filter.tsx'
import { Page } from '@/ui/page.tsx'
import { PagedTable } from '@/ui/paged-table.tsx'
import { Tabs } from '@/ui/tabs.tsx'

const tabs = [
  { key: 'budgets', label: 'Budgets' },
  { key: 'alerts', label: 'Alerts' },
] as const
const PAGE_SIZE = 200

/** Budgets, what is left of them, and their alerts. */
export default function Budgets() {
  const [values, change] = useFilters(filters)
  const [chosen] = useSubPath()
  const navigate = useNavigate()
  const [edited, setEdited] = useState<Budget>()
  const isNew = values.new === 'yes'
  const show = (id?: string) =>
    void navigate({
      to: (id === undefined ? '/budgets' : `/budgets/${id}`) as '/budgets',
      // Drop `new`, so that closing the sheet does not reopen the form.
      search: ({ new: _, ...before }: Readonly<Record<string, string>>) => before,
      replace: id === undefined,
    })
  function close() {
    setEdited(undefined)
    if (isNew) change({ new: 'no' })
  }
  return (
    <Page
      title="Budgets"
      note="Spend limits per day, week (from Monday) or month, in UTC"
      actions={
        <Button kind="primary" onClick={() => change({ new: 'yes' })}>
          <Plus aria-hidden />
          New budget
        </Button>
      }
    >
      <Tabs
        label="Budgets and alerts"
        tabs={tabs}
        value={values.view}
        onChange={(view) => change({ view })}
      >
        <div className="grid gap-4">
          {values.view === 'alerts' ? (
            <Alerts
              status={values.alert_status}
              page={values.page}
              onStatus={(alert_status) => change({ alert_status })}
              onPage={(page) => change({ page })}
              onBudget={show}
            />
          ) : (
            <>
              <FilterBar values={values} change={change} />
              <List
                values={values}
                onOpen={show}
                onPage={(page) => change({ page })}
                onClear={() => change(cleared)}
              />
            </>
          )}
        </div>
      </Tabs>
      <BudgetSheet budgetId={chosen} onClose={() => show()} onEdit={setEdited} />
      {(isNew || edited !== undefined) && (
        <BudgetForm
          budget={edited ?? null}
          owner={ownerOf(values)}
          onClose={close}
          onSaved={({ budget_id }) => {
            setEdited(undefined)
            show(budget_id)
          }}
        />
      )}
    </Page>
  )
}

interface ListProps {
  readonly values: Values
  readonly onOpen: (budgetId: string) => void
  readonly onPage: (page: number) => void
  readonly onClear: () => void
}

function List({ values, onOpen, onPage, onClear }: ListProps) {
  const { status, scope_kind, budget_source, user_id, service_account_id, page } = values
  const query = useGet(
    '/api/v1/admin/spend/budgets',
    {
      query: {
        status,
        scope_kind,
        budget_source,
        user_id,
        service_account_id,
        page,
        page_size: PAGE_SIZE,
      },
    },
    { placeholderData: (before) => before },
  )
  return (
    <PagedTable
      query={query}
      label="Budgets"
      columns={columns}
      rowKey={({ budget_id }) => budget_id}
      minWidth={1120}
      onOpen={({ budget_id }) => onOpen(budget_id)}
      onPage={onPage}
      filtered={
        isNarrowed(values, cleared)
          ? {
              title: 'No matching budgets',
              hint: 'Remove a filter, or set State to All.',
              onClear,
            }
          : undefined
      }
      empty={
        <EmptyState title="No budgets yet">
          Users have no spend limit, and calls of service accounts are rejected. Create a budget
          here, or set a default for all users under{' '}
          <code className="font-mono">budgets.users.default</code> in the config file.
        </EmptyState>
      }
      frame={(list) => (
        <Card padded={false} aria-label="Budgets">
          {list}
        </Card>
      )}
    />
  )
}
