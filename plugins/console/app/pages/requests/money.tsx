import { type Data, useGet } from '@/api/query.ts'
import { count, duration, NOT_KNOWN, usd, usdExact } from '@/lib/format.ts'
import { pricingNames, pricingTone, reasonText } from '@/lib/pricing.ts'
import type { RequestDetail } from '@/pages/requests/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Stat, Stats } from '@/ui/card.tsx'
import { Skeleton } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Table, Td, Th } from '@/ui/table.tsx'

/** The tokens, the cost, and the source of the price. */
export function Money({ log }: { log: RequestDetail }) {
  return (
    <div className="grid gap-3">
      <Stats className="md:grid-cols-5 xl:grid-cols-5">
        <Stat
          label="Input tokens"
          value={count(log.prompt_tokens)}
          note={`cache: ${count(log.cache_read_tokens)} read, ${count(log.cache_write_tokens)} written`}
        />
        <Stat
          label="Output tokens"
          value={count(log.completion_tokens)}
          note={`reasoning: ${count(log.reasoning_tokens)}`}
        />
        <Stat label="Total tokens" value={count(log.total_tokens)} />
        <Stat
          label="Cost"
          value={log.cost_usd === null ? NOT_KNOWN : usd(log.cost_usd)}
          {...(log.cost_usd !== null && { exact: usdExact(log.cost_usd) })}
          note={log.cost_usd === null ? undefined : usdExact(log.cost_usd)}
        />
        <Stat
          label="Tokens per second"
          value={speedOf(log)}
          note={`output, in ${duration(log.latency_ms)}`}
        />
      </Stats>
      <Ledger log={log} />
    </div>
  )
}

function speedOf({ completion_tokens: tokens, latency_ms: ms }: RequestDetail): string {
  if (tokens === null || ms === 0) return NOT_KNOWN
  const speed = (tokens * 1000) / ms
  return speed < 100 ? speed.toFixed(1) : count(Math.round(speed))
}

function Ledger({ log }: { log: RequestDetail }) {
  const query = useGet('/api/v1/admin/spend/ledger-entries', {
    query: { request_id: log.request_id },
  })
  return (
    <Loaded query={query} skeleton={<Skeleton className="h-10" />}>
      {({ items }) => {
        const own = items.filter(
          ({ owner_id }) => owner_id === (log.user_id ?? log.service_account_id),
        )
        if (own.length === 0) {
          return <p className="text-muted">No ledger entry: nothing was charged.</p>
        }
        return (
          <ul className="grid gap-2">
            {own.map((entry) => (
              <li key={entry.event_id} className="grid gap-1">
                <span className="flex flex-wrap items-center gap-2">
                  <Badge tone={pricingTone(entry.pricing_status)}>
                    {pricingNames[entry.pricing_status] ?? entry.pricing_status}
                  </Badge>
                  {entry.rejection !== null && (
                    <Badge tone="bad">
                      {entry.rejection === 'budget_exceeded'
                        ? 'rejected: over a hard limit'
                        : 'rejected: duplicate request ID'}
                    </Badge>
                  )}
                  {entry.pricing_provider_id === null ? (
                    <span className="text-muted">the provider has no price list</span>
                  ) : (
                    <span>
                      <span className="text-muted">price list </span>
                      {entry.pricing_provider_id}
                      <span className="text-muted">, model </span>
                      {entry.pricing_model}
                    </span>
                  )}
                  {entry.rate_id !== null && (
                    <span className="min-w-0 truncate text-muted">
                      rate <code className="font-mono text-xs">{entry.rate_id}</code>
                    </span>
                  )}
                </span>
                {entry.line_items !== null && <LineItems items={entry.line_items} />}
                {entry.unpriced_reason !== null && <p>{reasonText(entry.unpriced_reason)}</p>}
                {entry.pricing_status === 'usage_missing' && (
                  <p>The provider reported no valid token counts.</p>
                )}
                {entry.usage_doubt !== null && (
                  <p className="text-muted">
                    Token counts are estimated, doubtful or missing:{' '}
                    <code className="font-mono text-xs">{entry.usage_doubt}</code>
                  </p>
                )}
              </li>
            ))}
          </ul>
        )
      }}
    </Loaded>
  )
}

type LedgerEntry = Data<'/api/v1/admin/spend/ledger-entries'>['items'][number]

/** The line items of a cost, with all digits. */
function LineItems({ items }: { items: NonNullable<LedgerEntry['line_items']> }) {
  return (
    <Table aria-label="Line items" className="max-w-xl">
      <thead>
        <tr>
          <Th>Item</Th>
          <Th className="text-right">Quantity</Th>
          <Th className="text-right">USD each</Th>
          <Th className="text-right">USD</Th>
        </tr>
      </thead>
      <tbody>
        {items.map(({ unit, quantity, usd_each, cost_usd }) => (
          <tr key={unit}>
            <Td>{unit.replaceAll('_', ' ')}</Td>
            <Td className="text-right tabular-nums">{count(quantity)}</Td>
            <Td className="text-right tabular-nums">{usd_each}</Td>
            <Td className="text-right tabular-nums">{cost_usd}</Td>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}
