import { Link } from '@tanstack/react-router'
import { useGet } from '@/api/query.ts'
import { count, dateTime, NOT_KNOWN, usd, usdExact } from '@/lib/format.ts'
import { Badge } from '@/ui/badge.tsx'
import { Card } from '@/ui/card.tsx'
import { Select } from '@/ui/field.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Pagination } from '@/ui/pagination.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

const PAGE_SIZE = 20
const reasons = { budget_exceeded: 'over a hard limit', duplicate_race: 'request id used twice' }
type Reason = '' | keyof typeof reasons

export interface RejectedProps {
  readonly ownerKind: 'all' | 'user' | 'service_account'
  readonly reason: Reason
  readonly page: number
  readonly onReason: (reason: Reason) => void
  readonly onPage: (page: number) => void
}

/** Calls that were served and whose charge is not in the ledger. */
export function Rejected({ ownerKind, reason, page, onReason, onPage }: RejectedProps) {
  const query = useGet(
    '/api/v1/admin/spend/rejected-charges',
    { query: { owner_kind: ownerKind, reason: reason || undefined, page, page_size: PAGE_SIZE } },
    { placeholderData: (before) => before },
  )
  return (
    <Card
      title="Rejected charges"
      note="served, but not in the ledger; of all time"
      padded={false}
      actions={
        <Select
          aria-label="Reason"
          className="w-48"
          value={reason}
          onChange={({ target }) => onReason(target.value as Reason)}
        >
          <option value="">Any reason</option>
          {Object.entries(reasons).map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </Select>
      }
    >
      <Loaded query={query}>
        {(data) =>
          data.total === 0 ? (
            <EmptyState title="No rejected charges">
              A call whose cost would pass a hard limit of a budget stands here. Limits are set at{' '}
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
                    <Th>Time</Th>
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
                      <Td>{dateTime(charge.occurred_at)}</Td>
                      <Td>
                        <Badge tone="warn">{reasons[charge.reason]}</Badge>
                      </Td>
                      <Td className="max-w-48 truncate">{charge.owner_name ?? 'deleted owner'}</Td>
                      <Td className="max-w-48 truncate">{charge.model_key}</Td>
                      <Td className="max-w-40 truncate">{charge.provider_key}</Td>
                      <Td className="text-right">{count(charge.total_tokens)}</Td>
                      <Td
                        className="text-right"
                        title={charge.cost_usd === null ? undefined : usdExact(charge.cost_usd)}
                      >
                        {charge.cost_usd === null ? NOT_KNOWN : usd(charge.cost_usd)}
                      </Td>
                      <Td>
                        <Link
                          to="/requests"
                          search={{ request_id: charge.request_id }}
                          className="block max-w-44 truncate text-accent-text hover:underline"
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
                onPage={onPage}
              />
            </>
          )
        }
      </Loaded>
    </Card>
  )
}
