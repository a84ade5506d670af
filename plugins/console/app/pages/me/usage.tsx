import { Link } from '@tanstack/react-router'
import { useGet } from '@/api/query.ts'
import { TimeSeries } from '@/charts/time-series.tsx'
import { oneOf, useFilters } from '@/lib/filters.ts'
import {
  count,
  date,
  percent,
  shareOf,
  short,
  usd,
  usdExact,
  usdOf,
  usdShort,
} from '@/lib/format.ts'
import { ModelTable } from '@/pages/me/model-table.tsx'
import { Export } from '@/pages/spend/export.tsx'
import { Card, Stat, Stats } from '@/ui/card.tsx'
import { EmptyState, Skeleton } from '@/ui/notice.tsx'
import { Loaded, Page } from '@/ui/page.tsx'
import { Segments } from '@/ui/tabs.tsx'

const filters = { days: oneOf(['7', '30'], '7') }
const ranges = [
  { key: '7', label: '7 days' },
  { key: '30', label: '30 days' },
] as const

const dayOf = (at: string) => `${date(at)}, UTC`

/** The usage and cost of the signed-in user. */
export default function Usage() {
  const [{ days }, change] = useFilters(filters)
  const query = useGet(
    '/api/v1/me/spend',
    { query: { days: days === '30' ? 30 : 7 } },
    { placeholderData: (before) => before },
  )
  return (
    <Page
      title="My usage"
      note={
        query.data === undefined
          ? 'Days are in UTC'
          : `${date(query.data.window_start)} – today, UTC`
      }
      actions={
        <>
          <Export />
          <Segments
            label="Range"
            options={ranges}
            value={days}
            onChange={(key) => change({ days: key })}
          />
        </>
      }
    >
      <Loaded query={query} skeleton={<Skeleton className="h-80 w-full" />}>
        {({ totals, daily, models }) => (
          <>
            <Stats className="md:grid-cols-5 xl:grid-cols-5">
              <Stat
                label="Spend"
                value={usd(totals.spend_usd)}
                exact={usdExact(totals.spend_usd)}
                note={
                  totals.rejected_count === 0
                    ? 'nothing rejected'
                    : `${usd(totals.rejected_spend_usd)} rejected by budgets`
                }
              />
              <Stat
                label="Requests"
                value={count(totals.request_count)}
                note={`${count(totals.unpriced_count)} unpriced`}
              />
              <Stat
                label="Tokens"
                value={short(totals.total_tokens)}
                exact={count(totals.total_tokens)}
                note="input and output"
              />
              <Stat
                label="Input"
                value={short(totals.prompt_tokens)}
                exact={count(totals.prompt_tokens)}
                note={`${percent(shareOf(totals.cache_read_tokens, totals.prompt_tokens))} from a cache`}
              />
              <Stat
                label="Output"
                value={short(totals.completion_tokens)}
                exact={count(totals.completion_tokens)}
                note={`${short(totals.reasoning_tokens)} for reasoning`}
              />
            </Stats>
            {totals.request_count === 0 ? (
              <Card>
                <EmptyState title="No requests in this period">
                  Use one of your API keys in a client, or try a model in the{' '}
                  <Link to="/playground" className="text-accent-text underline">
                    playground
                  </Link>
                  . Admins create API keys.
                </EmptyState>
              </Card>
            ) : (
              <>
                <div className="grid gap-4 xl:grid-cols-2">
                  <Card title="Spend by day">
                    <TimeSeries
                      label="Spend by day"
                      kind="bar"
                      series={[{ key: 'spend', label: 'Spend', color: 'var(--chart-2)' }]}
                      format={usdOf}
                      axis={usdShort}
                      moment={dayOf}
                      points={daily.map(({ day, spend_usd }) => ({
                        at: `${day}T00:00:00.000Z`,
                        values: { spend: Number(spend_usd) },
                      }))}
                    />
                  </Card>
                  <Card title="Tokens by day">
                    <TimeSeries
                      label="Tokens by day"
                      kind="bar"
                      series={[
                        { key: 'in', label: 'Input', color: 'var(--chart-5)' },
                        { key: 'out', label: 'Output', color: 'var(--chart-1)' },
                      ]}
                      format={count}
                      axis={short}
                      moment={dayOf}
                      points={daily.map(({ day, prompt_tokens, completion_tokens }) => ({
                        at: `${day}T00:00:00.000Z`,
                        values: { in: prompt_tokens, out: completion_tokens },
                      }))}
                    />
                  </Card>
                </div>
                <ModelTable models={models} />
              </>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
