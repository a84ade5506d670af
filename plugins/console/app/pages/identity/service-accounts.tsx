import { useMemo, useState } from 'react'
import { api, take } from '@/api/client.ts'
import { type Data, useGet } from '@/api/query.ts'
import { cadenceNames } from '@/lib/budgets.ts'
import { isNarrowed, oneOf, page, text, useFilters, useSubPath, usualOf } from '@/lib/filters.ts'
import { NOT_KNOWN, usd } from '@/lib/format.ts'
import { AccountForm } from '@/pages/identity/account-form.tsx'
import { nameColumn, statusColumn } from '@/pages/identity/columns.tsx'
import { Facts } from '@/pages/identity/facts.tsx'
import { IdentityList, PAGE_SIZE, useOpen } from '@/pages/identity/list.tsx'
import { OwnerLinks } from '@/pages/identity/owner-links.tsx'
import { StatusButton } from '@/pages/identity/status-button.tsx'
import { accessText, type ServiceAccount, Status } from '@/pages/identity/words.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { ChoiceFilter } from '@/ui/choice-filter.tsx'
import type { Column } from '@/ui/data-table.tsx'
import { Sheet } from '@/ui/dialog.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { OwnerFilter } from '@/ui/owner-filter.tsx'
import { Loaded } from '@/ui/page.tsx'

type Budgets = Data<'/api/v1/admin/spend/budgets'>

const filters = {
  search: text,
  status: oneOf(['', 'active', 'disabled'], ''),
  team_id: text,
  page,
}
const cleared = usualOf(filters, 'page')
const teamsOnly = ['team'] as const
const statuses = [
  ['active', 'Active'],
  ['disabled', 'Disabled'],
] as const

/** Service accounts, with their teams and budgets. */
export default function ServiceAccounts() {
  const [values, change] = useFilters(filters)
  const { status } = values
  const [chosen] = useSubPath()
  const show = useOpen('/identity/service-accounts')
  const [edited, setEdited] = useState<ServiceAccount | null>()
  const query = useGet(
    '/api/v1/admin/service-accounts',
    { query: { ...values, search: values.search.trim(), page_size: PAGE_SIZE } },
    { placeholderData: (before) => before },
  )
  const { data: budgets } = useGet('/api/v1/admin/spend/budgets', {
    query: { scope_kind: 'service_account', page_size: 200 },
  })
  const columns = useMemo(() => columnsWith(budgets), [budgets])
  return (
    <IdentityList
      title="Service accounts"
      note="Programs with their own API keys. Each needs an active budget"
      action="New service account"
      onNew={() => setEdited(null)}
      values={values}
      change={change}
      searchLabel="Search name or key"
      narrowed={isNarrowed(values, cleared)}
      onClear={() => change(cleared)}
      query={query}
      columns={columns}
      rowKey={({ service_account_id }) => service_account_id}
      onOpen={show}
      empty={
        <EmptyState title="No service accounts yet">
          Create a team, then a service account in it with a budget, then an API key for it.
        </EmptyState>
      }
      filters={
        <>
          <ChoiceFilter
            label="Status"
            any="Any status"
            className="w-36"
            options={statuses}
            value={status}
            onChange={(next) => change({ status: next })}
          />
          <OwnerFilter label="Team" kinds={teamsOnly} values={values} change={change} />
        </>
      }
    >
      <AccountSheet accountId={chosen} onClose={() => show()} onEdit={setEdited} />
      {edited !== undefined && (
        <AccountForm
          account={edited}
          onClose={() => setEdited(undefined)}
          onSaved={({ service_account_id }) => {
            setEdited(undefined)
            show(service_account_id)
          }}
        />
      )}
    </IdentityList>
  )
}

function columnsWith(budgets: Budgets | undefined): readonly Column<ServiceAccount>[] {
  const known = new Map(budgets?.items.map((budget) => [budget.owner_id, budget]))
  const all = budgets !== undefined && budgets.total <= budgets.items.length
  return [
    { ...nameColumn, width: '1.2fr' },
    { key: 'key', header: 'Key', sort: ({ key }) => key, cell: ({ key }) => key },
    { key: 'team', header: 'Team', sort: ({ team }) => team.name, cell: ({ team }) => team.name },
    statusColumn,
    {
      key: 'budget',
      header: 'Budget remaining',
      width: '1.5fr',
      align: 'right',
      sort: ({ service_account_id: id }) => Number(known.get(id)?.remaining_usd ?? 0),
      cell: ({ service_account_id }) => {
        const budget = known.get(service_account_id)
        if (budget?.settings) {
          return (
            <>
              {usd(budget.remaining_usd ?? '0')}{' '}
              <span className="text-muted">
                of {usd(budget.settings.amount_usd)} {cadenceNames[budget.settings.cadence]}
              </span>
            </>
          )
        }
        return all ? <Badge tone="warn">no budget</Badge> : NOT_KNOWN
      },
    },
    { key: 'access', header: 'Models', cell: ({ model_access }) => accessText(model_access) },
  ]
}

const consequences = {
  enable: 'Its valid API keys work again immediately, if it has an active budget.',
  disable:
    'All its API keys are rejected immediately. Nothing is deleted, and you can enable it again.',
}

interface AccountSheetProps {
  readonly accountId: string | undefined
  readonly onClose: () => void
  readonly onEdit: (account: ServiceAccount) => void
}

function AccountSheet({ accountId = '', onClose, onEdit }: AccountSheetProps) {
  const path = { service_account_id: accountId }
  const query = useGet(
    '/api/v1/admin/service-accounts/{service_account_id}',
    { path },
    { enabled: accountId !== '' },
  )
  const set = (status: 'active' | 'disabled') =>
    take(
      api.PATCH('/api/v1/admin/service-accounts/{service_account_id}', {
        params: { path },
        body: { status },
      }),
    )
  return (
    <Sheet
      open={accountId !== ''}
      onClose={onClose}
      title={query.data?.name ?? 'Service account'}
      description={query.data && `${query.data.key} · ${query.data.team.name}`}
    >
      <Loaded query={query}>
        {(account) => (
          <div className="grid gap-4">
            <div className="flex flex-wrap gap-2">
              <Button kind="primary" size="sm" onClick={() => onEdit(account)}>
                Edit
              </Button>
              <StatusButton of={account} consequences={consequences} set={set} />
            </div>
            <Facts
              of={account}
              rows={[
                ['Status', <Status key="status" status={account.status} />],
                ['Team', account.team.name],
              ]}
            />
            <OwnerLinks owner={{ kind: 'service_account', id: account.service_account_id }} />
          </div>
        )}
      </Loaded>
    </Sheet>
  )
}
