import { Link } from '@tanstack/react-router'
import { useGet } from '@/api/query.ts'
import { isNarrowed, usualOf } from '@/lib/filters.ts'
import { count, date, dateTime, NOT_KNOWN, time, usd, usdExact } from '@/lib/format.ts'
import { filters, type Values } from '@/pages/spend/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { ChoiceFilter } from '@/ui/choice-filter.tsx'
import { Filters } from '@/ui/filters.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { OwnerFilter } from '@/ui/owner-filter.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Pagination } from '@/ui/pagination.tsx'
import { restStyle, Table, Td, Th, Tr } from '@/ui/table.tsx'
import { TextFilter } from '@/ui/text-filter.tsx'

const PAGE_SIZE = 20
const reasons = { budget_exceeded: 'over a hard limit', duplicate_race: 'duplicate request ID' }
const kinds = ['user', 'service_account'] as const
const cleared = usualOf(filters, 'days', 'by', 'owner_kind', 'page')

export interface RejectedProps {
  readonly values: Values
  readonly change: (changes: Partial<Values>) => void
}

/** Charges of served calls that are not in the ledger. */
export function Rejected({ values, change }: RejectedProps) {
  const { owner_kind, reason, user_id, service_account_id, request_id, page } = values
  const query = useGet(
    '/api/v1/admin/spend/rejected-charges',
    {
      query: {
        owner_kind,
        reason,
        owner_id: user_id || service_account_id,
        request_id,
        page,
        page_size: PAGE_SIZE,
      },
    },
    { placeholderData: (before) => before },
  )
  const narrowed = isNarrowed(values, cleared)
  const clear = () => change(cleared)
  return (
    <Card
      title="Rejected charges"
      note="all time; calls were served but not charged"
      padded={false}
    >
      <div className="border-b border-line px-4 py-2">
        <Filters narrowed={narrowed} onClear={clear}>
          <ChoiceFilter
            label="Reason"
            any="Any reason"
            className="w-48"
            options={Object.entries(reasons) as [keyof typeof reasons, string][]}
            value={reason}
            onChange={(next) => change({ reason: next })}
          />
          <OwnerFilter label="Owner" kinds={kinds} values={values} change={change} />
          <TextFilter
            label="Request ID"
            value={request_id}
            onChange={(next) => change({ request_id: next })}
          />
        </Filters>
      </div>
      <Loaded query={query}>
        {(data) =>
          data.total === 0 && narrowed ? (
            <EmptyState
              title="No charges match these filters"
              action={<Button onClick={clear}>Clear filters</Button>}
            />
          ) : data.total === 0 ? (
            <EmptyState title="No rejected charges">
              A call appears here if its cost would exceed a hard limit. Set limits in{' '}
              <Link to="/budgets" className="text-accent-text underline">
                Budgets
              </Link>
              .
            </EmptyState>
          ) : (
            <>
              <Table aria-label="Rejected charges">
                <thead>
                  <tr>
                    <Th>Time (UTC)</Th>
                    <Th>Reason</Th>
                    <Th>Owner</Th>
                    <Th>Model</Th>
                    <Th>Provider</Th>
                    <Th className="text-right">Tokens</Th>
                    <Th className="text-right">Cost</Th>
                    <Th>Request</Th>
                  </tr>
                </thead>
                <tbody>
                  {data.items.map((charge) => (
                    <Tr key={charge.event_id}>
                      <Td title={dateTime(charge.occurred_at)}>
                        {date(charge.occurred_at)}, {time(charge.occurred_at)}
                      </Td>
                      <Td>
                        <Badge tone="warn">{reasons[charge.reason]}</Badge>
                      </Td>
                      <Td className="max-w-36 truncate">{charge.owner_name ?? 'deleted owner'}</Td>
                      <Td className="max-w-40 truncate">{charge.model_key}</Td>
                      <Td className="max-w-32 truncate">{charge.provider_key}</Td>
                      <Td className="text-right">{count(charge.total_tokens)}</Td>
                      <Td
                        className="text-right"
                        title={charge.cost_usd === null ? undefined : usdExact(charge.cost_usd)}
                      >
                        {charge.cost_usd === null ? NOT_KNOWN : usd(charge.cost_usd)}
                      </Td>
                      <Td className={restStyle}>
                        <Link
                          to="/requests"
                          search={{ request_id: charge.request_id }}
                          className="text-accent-text hover:underline"
                        >
                          <code className="font-mono text-xs">{charge.request_id}</code>
                        </Link>
                      </Td>
                    </Tr>
                  ))}
                </tbody>
              </Table>
              <Pagination
                page={data.page}
                pageSize={data.page_size}
                total={data.total}
                onPage={(next) => change({ page: next })}
              />
            </>
          )
        }
      </Loaded>
    </Card>
  )
}
