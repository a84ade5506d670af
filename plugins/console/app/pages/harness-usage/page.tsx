import { Link } from '@tanstack/react-router'
import { type Data, useGet } from '@/api/query.ts'
import { TimeSeries } from '@/charts/time-series.tsx'
import { useFilters } from '@/lib/filters.ts'
import { count, date, percent, shareOf, short } from '@/lib/format.ts'
import { UnknownCallers } from '@/pages/harness-usage/unknown.tsx'
import { Card } from '@/ui/card.tsx'
import { DaysSwitch, daysFilter } from '@/ui/days-switch.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded, Page } from '@/ui/page.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

type Usage = Data<'/api/v1/admin/observability/harness-usage'>

const filters = { range: daysFilter }

/** Requests by coding agent (harness). */
export default function HarnessUsage() {
  const [{ range }, change] = useFilters(filters)
  const query = useGet(
    '/api/v1/admin/observability/harness-usage',
    { query: { range } },
    { placeholderData: (before) => before },
  )
  return (
    <Page
      title="Harness usage"
      note={
        query.data === undefined
          ? 'Coding agents by requests'
          : `Coding agents by requests, ${date(query.data.window_start)} – today, UTC`
      }
      actions={<DaysSwitch value={range} onChange={(next) => change({ range: next })} />}
    >
      <Loaded query={query}>
        {(usage) =>
          usage.leaders.length === 0 ? (
            <Card>
              <EmptyState title="No requests in this period">
                Connect a coding agent to this gateway. It is recognised by its User-Agent and
                counted here.
              </EmptyState>
            </Card>
          ) : (
            <>
              <Card title="Top 5" note={`per ${usage.bucket_hours} hours`}>
                <Chart usage={usage} />
              </Card>
              <Card
                title="Harnesses"
                note="from the User-Agent header, which clients can fake"
                padded={false}
              >
                <Leaders usage={usage} />
              </Card>
            </>
          )
        }
      </Loaded>
      <UnknownCallers />
    </Page>
  )
}

function Chart({ usage: { series, chart_harnesses: harnesses } }: { usage: Usage }) {
  return (
    <TimeSeries
      label="Requests of the top 5 harnesses"
      kind="area"
      height={260}
      series={harnesses.map(({ agent_harness_key: key, agent_harness_label: label }) => ({
        key,
        label,
      }))}
      points={series.map(({ bucket_start, values }) => ({
        at: bucket_start,
        values: Object.fromEntries(values.map((one) => [one.agent_harness_key, one.request_count])),
      }))}
      format={count}
      axis={short}
    />
  )
}

function Leaders({ usage }: { usage: Usage }) {
  const { leaders, window_start: occurred_at_start, window_end: occurred_at_end } = usage
  const all = leaders.reduce((sum, { request_count }) => sum + request_count, 0)
  return (
    <Table aria-label="Harnesses by requests">
      <thead>
        <tr>
          <Th className="w-12 text-right">Rank</Th>
          <Th>Harness</Th>
          <Th className="text-right">Requests</Th>
          <Th className="text-right" title="Share of the requests in this table">
            Share
          </Th>
        </tr>
      </thead>
      <tbody>
        {leaders.map((leader) => (
          <Tr key={leader.agent_harness_key}>
            <Td className="text-right text-muted">{leader.rank}</Td>
            <Td className="max-w-96 truncate font-medium">
              <Link
                to="/requests"
                search={{
                  agent_harness_key: leader.agent_harness_key,
                  occurred_at_start,
                  occurred_at_end,
                }}
                className="hover:text-accent-text hover:underline"
              >
                {leader.agent_harness_label}
              </Link>
            </Td>
            <Td className="text-right">{count(leader.request_count)}</Td>
            <Td className="text-right text-muted">{percent(shareOf(leader.request_count, all))}</Td>
          </Tr>
        ))}
      </tbody>
    </Table>
  )
}
