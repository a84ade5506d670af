import { Link } from '@tanstack/react-router'
import { useGet } from '@/api/query.ts'
import { useFilters } from '@/lib/filters.ts'
import { count, date, percent, shareOf, short, usd, usdExact } from '@/lib/format.ts'
import { Daily } from '@/pages/spend/daily.tsx'
import { Export } from '@/pages/spend/export.tsx'
import { Pricing } from '@/pages/spend/pricing.tsx'
import { filters, type Report } from '@/pages/spend/query.ts'
import { Rejected } from '@/pages/spend/rejected.tsx'
import { Models, Owners } from '@/pages/spend/tables.tsx'
import { Card, Stat, Stats } from '@/ui/card.tsx'
import { Select } from '@/ui/field.tsx'
import { EmptyState, Skeleton } from '@/ui/notice.tsx'
import { Loaded, Page } from '@/ui/page.tsx'
import { Segments } from '@/ui/tabs.tsx'

const REFRESH_MS = 60_000
const ranges = [
  { key: '7', label: '7 days' },
  { key: '30', label: '30 days' },
] as const

/** Spend by day, model and owner, calls without a price, rejected charges, and the export. */
export default function Spend() {
  const [values, change] = useFilters(filters)
  const { days, by, owner_kind, page } = values
  const window = { days: days === '7' ? (7 as const) : (30 as const), owner_kind }
  const query = useGet(
    '/api/v1/admin/spend/report',
    { query: window },
    { placeholderData: (before) => before, refetchInterval: REFRESH_MS },
  )
  const { data } = query
  return (
    <Page
      title="Spend"
      note={
        data === undefined
          ? 'Charges in the ledger, by UTC day'
          : `Charges in the ledger, ${date(data.window_start)} – today, by UTC day`
      }
      actions={
        <>
          <Export ownerKind={owner_kind} />
          <Select
            aria-label="Owners"
            className="w-44"
            active={owner_kind !== 'all'}
            value={owner_kind}
            onChange={({ target }) => change({ owner_kind: target.value as typeof owner_kind })}
          >
            <option value="all">All owners</option>
            <option value="user">Users</option>
            <option value="service_account">Service accounts</option>
          </Select>
          <Segments
            label="Range"
            options={ranges}
            value={days}
            onChange={(key) => change({ days: key })}
          />
        </>
      }
    >
      <Loaded query={query} skeleton={<Pending />}>
        {(report) => (
          <>
            <Totals report={report} />
            {report.totals.request_count === 0 ? (
              <Card>
                <EmptyState title="No spend yet">
                  Each finished call adds an entry to the ledger. Connect a client, or try a model
                  in the{' '}
                  <Link to="/playground" className="text-accent-text underline">
                    playground
                  </Link>
                  . Prices come from the price list in the provider’s pricing_provider_id.
                </EmptyState>
              </Card>
            ) : (
              <>
                <Daily by={by} window={window} onBy={(key) => change({ by: key, page })} />
                <Pricing report={report} />
                <Models report={report} />
                <Owners report={report} />
              </>
            )}
          </>
        )}
      </Loaded>
      {/* Rendered only when the data above is loaded, so that nothing moves it down. */}
      {!query.isPending && <Rejected values={values} change={change} />}
    </Page>
  )
}

function Totals({ report: { totals } }: { report: Report }) {
  const unpriced = totals.unpriced_count + totals.usage_missing_count
  return (
    <Stats>
      <Stat
        label="Spend"
        value={usd(totals.spend_usd)}
        exact={usdExact(totals.spend_usd)}
        note={usdExact(totals.spend_usd)}
      />
      <Stat
        label="Requests"
        value={count(totals.request_count)}
        note={`${count(totals.priced_count)} priced`}
      />
      <Stat
        label="Tokens"
        value={short(totals.total_tokens)}
        exact={count(totals.total_tokens)}
        note={`${short(totals.prompt_tokens)} in, ${short(totals.completion_tokens)} out`}
      />
      <Stat
        label="Cache reads"
        value={percent(shareOf(totals.cache_read_tokens, totals.prompt_tokens))}
        exact={count(totals.cache_read_tokens)}
        note={`${short(totals.cache_read_tokens)} of input`}
      />
      <Stat
        label="Without cost"
        value={count(unpriced)}
        tone={unpriced > 0 ? 'warn' : 'plain'}
        note={`${percent(shareOf(unpriced, totals.request_count))} of requests`}
      />
      <Stat
        label="Rejected charges"
        value={usd(totals.rejected_spend_usd)}
        exact={usdExact(totals.rejected_spend_usd)}
        tone={totals.rejected_count > 0 ? 'warn' : 'plain'}
        note={`${count(totals.rejected_count)} over a hard limit`}
      />
    </Stats>
  )
}

function Pending() {
  return (
    <div className="grid gap-4">
      <Skeleton className="h-20 w-full" />
      <Skeleton className="h-72 w-full" />
    </div>
  )
}
