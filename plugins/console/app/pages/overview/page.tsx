import { Link, Navigate } from '@tanstack/react-router'
import { useGet } from '@/api/query.ts'
import { useFilters } from '@/lib/filters.ts'
import { date, dayTime } from '@/lib/format.ts'
import { Attention } from '@/pages/overview/attention.tsx'
import { Breakdown } from '@/pages/overview/breakdown.tsx'
import { Charts } from '@/pages/overview/charts.tsx'
import { Providers } from '@/pages/overview/providers.tsx'
import { Totals } from '@/pages/overview/totals.tsx'
import { Card } from '@/ui/card.tsx'
import { DaysSwitch, daysFilter } from '@/ui/days-switch.tsx'
import { EmptyState, Skeleton } from '@/ui/notice.tsx'
import { Loaded, Page } from '@/ui/page.tsx'

const filters = { range: daysFilter }
const REFRESH_MS = 30_000

/** The totals of the last days, and what needs attention. */
export default function Overview() {
  const [{ range }, change] = useFilters(filters)
  const query = useGet(
    '/api/v1/admin/overview',
    { query: { range } },
    { refetchInterval: REFRESH_MS, placeholderData: (before) => before },
  )
  const { data } = query
  return (
    <Page
      title="Overview"
      note={data === undefined ? 'Times are in UTC' : `${date(data.window_start)} – today, UTC`}
      actions={
        <>
          {data !== undefined && query.dataUpdatedAt > 0 && (
            <span className="text-xs text-muted" aria-live="off">
              Updated {dayTime(new Date(query.dataUpdatedAt).toISOString())} UTC
            </span>
          )}
          <DaysSwitch value={range} onChange={(next) => change({ range: next })} />
        </>
      }
    >
      <Loaded query={query} skeleton={<Pending />}>
        {(overview) => (
          <>
            <Attention overview={overview} />
            <Totals overview={overview} />
            {overview.totals.request_count === 0 ? (
              <Quiet range={range} />
            ) : (
              <>
                <Charts overview={overview} />
                <Breakdown overview={overview} />
              </>
            )}
            <Providers overview={overview} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** The empty state. A gateway without requests in 31 days shows the Connect page instead. */
function Quiet({ range }: { readonly range: '7d' | '31d' }) {
  const longest = useGet('/api/v1/admin/overview', { query: { range: '31d' } })
  if (longest.data?.totals.request_count === 0) return <Navigate to="/connect" replace />
  if (range === '31d') return null
  return (
    <Card>
      <EmptyState title="No requests in this period">
        <Link to="/connect" className="text-accent-text underline">
          Connect
        </Link>{' '}
        a client, or choose a longer period.
      </EmptyState>
    </Card>
  )
}

function Pending() {
  return (
    <div className="grid gap-4">
      <Skeleton className="h-20 w-full" />
      <div className="grid gap-4 xl:grid-cols-2">
        <Skeleton className="h-64 w-full" />
        <Skeleton className="h-64 w-full" />
      </div>
    </div>
  )
}
