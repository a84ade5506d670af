import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { cadenceNames, leftText, modelOf, usedShare } from '@/lib/budgets.ts'
import { counted, usd, usdExact } from '@/lib/format.ts'
import { KeyForm } from '@/pages/identity/key-form.tsx'
import { KeyTable } from '@/pages/identity/key-table.tsx'
import { Badge, Meter } from '@/ui/badge.tsx'
import { Button, buttonStyle } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { IssuedKey } from '@/ui/issued-key.tsx'
import { Notice } from '@/ui/notice.tsx'
import type { Owner } from '@/ui/owner-picker.tsx'
import { Loaded } from '@/ui/page.tsx'

export interface OwnerLinksProps {
  readonly owner: Owner & { readonly kind: 'user' | 'service_account' }
}

/** The spend, budgets and API keys of an owner, with links to their pages. */
export function OwnerLinks({ owner }: OwnerLinksProps) {
  const search = owner.kind === 'user' ? { user_id: owner.id } : { service_account_id: owner.id }
  return (
    <>
      <Spend owner={owner} search={search} />
      <Budgets owner={owner} search={search} />
      <Keys owner={owner} search={search} />
    </>
  )
}

interface PartProps extends OwnerLinksProps {
  readonly search: { readonly user_id?: string; readonly service_account_id?: string }
}

function Spend({ owner, search }: PartProps) {
  const query = useGet('/api/v1/admin/spend/report', {
    query: { days: 30, owner_kind: owner.kind },
  })
  return (
    <Card
      title="Spend"
      note="last 30 days"
      actions={
        <Link to="/requests" search={search} className={buttonStyle({ size: 'sm' })}>
          Requests
        </Link>
      }
    >
      <Loaded query={query}>
        {({ owners }) => {
          const sums = owners.find(({ owner_id }) => owner_id === owner.id)
          if (sums === undefined)
            return <p className="text-muted">No requests in the last 30 days.</p>
          return (
            <p>
              <span className="font-medium" title={usdExact(sums.spend_usd)}>
                {usd(sums.spend_usd)}
              </span>{' '}
              for {counted(sums.request_count, 'request')} and {counted(sums.total_tokens, 'token')}
              {sums.rejected_count > 0 && (
                <span className="text-muted">; {usd(sums.rejected_spend_usd)} rejected</span>
              )}
            </p>
          )
        }}
      </Loaded>
    </Card>
  )
}

function Budgets({ owner, search }: PartProps) {
  const query = useGet('/api/v1/admin/spend/budgets', { query: search })
  return (
    <Card
      title="Budgets"
      actions={
        <Link to="/budgets" search={search} className={buttonStyle({ size: 'sm' })}>
          Budgets
        </Link>
      }
    >
      <Loaded query={query}>
        {({ items }) => {
          if (items.length === 0) {
            return owner.kind === 'user' ? (
              <p className="text-muted">No budget. Spend is not limited.</p>
            ) : (
              <Notice
                tone="warn"
                title="No active budget: all calls are rejected"
                action={
                  <Link
                    to="/budgets"
                    search={{ ...search, new: 'yes' }}
                    className={buttonStyle({ size: 'sm' })}
                  >
                    Create budget
                  </Link>
                }
              >
                Create a budget to allow calls of this service account.
              </Notice>
            )
          }
          return (
            <ul className="grid gap-2">
              {items.map((budget) => (
                <li key={budget.budget_id} className="grid gap-1">
                  <span className="flex flex-wrap items-center gap-2">
                    <Link
                      to={`/budgets/${budget.budget_id}` as '/budgets'}
                      className="font-medium hover:text-accent-text hover:underline"
                    >
                      {usd(budget.settings?.amount_usd ?? '0')}{' '}
                      {budget.settings !== null && cadenceNames[budget.settings.cadence]}
                    </Link>
                    <span className="min-w-0 text-muted">{modelOf(budget.scope)}</span>
                    {budget.exhausted && <Badge tone="bad">used up</Badge>}
                    <span className="ml-auto">{leftText(budget.remaining_usd ?? '0')}</span>
                  </span>
                  <Meter
                    label={`Budget of ${usd(budget.settings?.amount_usd ?? '0')}`}
                    share={usedShare(budget)}
                  />
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Card>
  )
}

function Keys({ owner, search }: PartProps) {
  const query = useGet('/api/v1/admin/api-keys', { query: search })
  const [issuing, setIssuing] = useState(false)
  const [issued, setIssued] = useState<{ name: string; api_key?: string }>()
  return (
    <Card
      title="API keys"
      padded={false}
      actions={
        <>
          <Link to="/identity/api-keys" search={search} className={buttonStyle({ size: 'sm' })}>
            API keys
          </Link>
          <Button size="sm" onClick={() => setIssuing(true)}>
            Create API key
          </Button>
        </>
      }
    >
      <Loaded query={query}>
        {({ items, total }) =>
          items.length === 0 ? (
            <p className="px-4 py-3 text-muted">No API keys yet.</p>
          ) : (
            <>
              <KeyTable keys={items} />
              {total > items.length && (
                <p className="border-t border-line px-4 py-2">
                  <Link
                    to="/identity/api-keys"
                    search={search}
                    className="text-accent-text hover:underline"
                  >
                    All {counted(total, 'key')}
                  </Link>
                </p>
              )}
            </>
          )
        }
      </Loaded>
      {issuing && (
        <KeyForm
          apiKey={null}
          owner={owner}
          onClose={() => setIssuing(false)}
          onSaved={(key) => {
            setIssuing(false)
            setIssued(key)
          }}
        />
      )}
      <IssuedKey
        name={issued?.name ?? ''}
        value={issued?.api_key}
        onClose={() => setIssued(undefined)}
      />
    </Card>
  )
}
