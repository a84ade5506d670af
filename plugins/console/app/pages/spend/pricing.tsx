import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { count, percent, shareOf } from '@/lib/format.ts'
import { pricingNames, pricingTone, reasonText } from '@/lib/pricing.ts'
import { Fix } from '@/pages/spend/fix.tsx'
import { type Report, requestsOf } from '@/pages/spend/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

const statuses = ['priced', 'legacy_estimated', 'unpriced', 'usage_missing'] as const

const meanings = {
  priced: 'exact tokens at the rates of a price list',
  legacy_estimated: 'some token counts are estimates, for example when a stream ended early',
  unpriced: 'no price found; counts as $0, in budgets as well',
  usage_missing: 'the provider reported no valid token counts',
}

const lacks = (model: Report['models'][number]) => model.unpriced_count + model.usage_missing_count

/** How exact the sums are, and how to fix requests without a price. */
export function Pricing({ report }: { report: Report }) {
  const { totals, models } = report
  const [fixing, setFixing] = useState<Report['models'][number]>()
  const lacking = models
    .filter((model) => lacks(model) > 0)
    .toSorted((a, b) => b.unpriced_count - a.unpriced_count || lacks(b) - lacks(a))
  return (
    <Card title="Pricing status" note="requests in the ledger" padded={false}>
      <dl className="grid gap-x-6 gap-y-2 px-4 py-3 sm:grid-cols-2 xl:grid-cols-4">
        {statuses.map((status) => {
          const n = totals[`${status}_count`]
          return (
            <div key={status} className="min-w-0">
              <dt>
                <Badge tone={n > 0 ? pricingTone(status) : 'plain'}>{pricingNames[status]}</Badge>
              </dt>
              <dd className="mt-1 font-semibold">
                {count(n)}{' '}
                <span className="font-normal text-muted">
                  {percent(shareOf(n, totals.request_count))}
                </span>
              </dd>
              <dd className="text-xs text-muted">{meanings[status]}</dd>
            </div>
          )
        })}
      </dl>
      {lacking.length > 0 && (
        <div className="border-t border-line">
          <Table aria-label="Models without a price or without usage">
            <thead>
              <tr>
                <Th>Model</Th>
                <Th className="text-right">No price</Th>
                <Th className="text-right">Usage missing</Th>
                <Th className="text-right">Share of requests</Th>
                <Th>
                  <span className="sr-only">Actions</span>
                </Th>
              </tr>
            </thead>
            <tbody>
              {lacking.map((model) => (
                <Tr key={`${model.model_key} ${model.resolved_model_key}`}>
                  <Td className="max-w-72 truncate font-medium">
                    <Link
                      to="/requests"
                      search={requestsOf(report, { model_key: model.model_key })}
                      className="hover:text-accent-text hover:underline"
                    >
                      {model.model_key}
                    </Link>
                  </Td>
                  <Td className="text-right">{count(model.unpriced_count)}</Td>
                  <Td className="text-right">{count(model.usage_missing_count)}</Td>
                  <Td className="text-right text-muted">
                    {percent(shareOf(lacks(model), model.request_count))}
                  </Td>
                  <Td className="text-right">
                    <Button size="sm" onClick={() => setFixing(model)}>
                      How to fix
                    </Button>
                  </Td>
                </Tr>
              ))}
            </tbody>
          </Table>
        </div>
      )}
      {totals.unpriced_count > 0 && (
        <Unpriced days={report.days === 7 ? 7 : 30} ownerKind={report.owner_kind} />
      )}
      <Fix model={fixing} onClose={() => setFixing(undefined)} />
    </Card>
  )
}

interface UnpricedProps {
  readonly days: 7 | 30
  readonly ownerKind: Report['owner_kind']
}

/** Why calls have no price, how to fix it, and how many of their owners have a hard limit. */
function Unpriced({ days, ownerKind }: UnpricedProps) {
  const { data } = useGet('/api/v1/admin/spend/unpriced', {
    query: { days, owner_kind: ownerKind },
  })
  if (data === undefined || data.items.length === 0) return null
  const passed = data.items.reduce((sum, { within_hard_limit }) => sum + within_hard_limit, 0)
  return (
    <div className="border-t border-line">
      <Table aria-label="Why calls have no price">
        <thead>
          <tr>
            <Th>Reason and fix</Th>
            <Th>Upstream model</Th>
            <Th className="text-right">Requests</Th>
            <Th className="text-right">Tokens</Th>
            <Th className="text-right">Under a hard limit</Th>
          </tr>
        </thead>
        <tbody>
          {data.items.map((item) => (
            <Tr key={JSON.stringify(item)}>
              <Td className="whitespace-normal">{reasonText(item.reason)}</Td>
              <Td className="max-w-72 truncate">
                {item.provider_key}/{item.upstream_model}
              </Td>
              <Td className="text-right">{count(item.request_count)}</Td>
              <Td className="text-right">{count(item.total_tokens)}</Td>
              <Td className="text-right">{count(item.within_hard_limit)}</Td>
            </Tr>
          ))}
        </tbody>
      </Table>
      {passed > 0 && (
        <p className="px-4 py-2 text-xs text-muted">
          {count(passed)} requests were from owners with a hard limit, but count as $0 in their
          budgets. To prevent this, reject calls without a price in the budget.
        </p>
      )}
    </div>
  )
}
