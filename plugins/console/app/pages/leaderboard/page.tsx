import { Link } from '@tanstack/react-router'
import { type Data, useGet } from '@/api/query.ts'
import { TimeSeries } from '@/charts/time-series.tsx'
import { useFilters } from '@/lib/filters.ts'
import { count, date, NOT_KNOWN, usd, usdExact, usdOf, usdShort } from '@/lib/format.ts'
import { Card } from '@/ui/card.tsx'
import { DaysSwitch, daysFilter } from '@/ui/days-switch.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded, Page } from '@/ui/page.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

type Ranking = Data<'/api/v1/admin/observability/leaderboard'>
type Leader = Ranking['leaders'][number]

const filters = { range: daysFilter }
const averages = [
  ['exposed_tool_count', 'Tools offered per request'],
  ['invoked_tool_count', 'Tools called per request'],
] as const satisfies readonly (readonly [keyof Leader['tool_cardinality_averages'], string])[]

/** Users by spend. */
export default function Leaderboard() {
  const [{ range }, change] = useFilters(filters)
  const query = useGet(
    '/api/v1/admin/observability/leaderboard',
    { query: { range } },
    { placeholderData: (before) => before },
  )
  return (
    <Page
      title="Leaderboard"
      note={
        query.data === undefined
          ? 'Users by spend'
          : `Users by spend, ${date(query.data.window_start)} – today, UTC`
      }
      actions={<DaysSwitch value={range} onChange={(next) => change({ range: next })} />}
    >
      <Loaded query={query}>
        {(ranking) =>
          ranking.leaders.length === 0 ? (
            <Card>
              <EmptyState title="No spend in this period">
                Users appear here after their first priced request. For service accounts see Spend.
              </EmptyState>
            </Card>
          ) : (
            <>
              <Card title="Top 5" note={`per ${ranking.bucket_hours} hours`}>
                <Chart ranking={ranking} />
              </Card>
              <Card title="Users" note="top 30" padded={false}>
                <Leaders ranking={ranking} />
              </Card>
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

function Chart({ ranking: { series, chart_users: users } }: { ranking: Ranking }) {
  return (
    <TimeSeries
      label="Spend of the top 5 users"
      kind="area"
      height={260}
      series={users.map((user) => ({ key: user.user_id, label: nameOf(user) }))}
      points={series.map(({ bucket_start, values }) => ({
        at: bucket_start,
        values: Object.fromEntries(values.map((one) => [one.user_id, Number(one.spend_usd)])),
      }))}
      format={usdOf}
      axis={usdShort}
    />
  )
}

/** For a deleted user the API returns the ID as the name. */
function nameOf({ user_id, user_name }: Pick<Leader, 'user_id' | 'user_name'>): string {
  return user_name === user_id ? 'deleted user' : user_name
}

function Leaders({ ranking }: { ranking: Ranking }) {
  const { window_start: occurred_at_start, window_end: occurred_at_end } = ranking
  return (
    <Table aria-label="Users by spend">
      <thead>
        <tr>
          <Th className="w-12 text-right">Rank</Th>
          <Th>User</Th>
          <Th className="text-right">Spend</Th>
          <Th className="text-right">Requests</Th>
          <Th>Most used model</Th>
          {averages.map(([key, label]) => (
            <Th
              key={key}
              className="text-right"
              title="Average over the requests with a recorded value"
            >
              {label}
            </Th>
          ))}
        </tr>
      </thead>
      <tbody>
        {ranking.leaders.map((leader) => (
          <Tr key={leader.user_id}>
            <Td className="text-right text-muted">{leader.rank}</Td>
            <Td className="max-w-64 truncate font-medium">
              <Link
                to="/requests"
                search={{ user_id: leader.user_id, occurred_at_start, occurred_at_end }}
                className="hover:text-accent-text hover:underline"
              >
                {nameOf(leader)}
              </Link>
            </Td>
            <Td className="text-right" title={usdExact(leader.total_spend_usd)}>
              {usd(leader.total_spend_usd)}
            </Td>
            <Td className="text-right">{count(leader.total_requests)}</Td>
            <Td className="max-w-64 truncate">{leader.most_used_model}</Td>
            {averages.map(([key]) => (
              <Td key={key} className="text-right">
                {leader.tool_cardinality_averages[key]?.toFixed(1) ?? NOT_KNOWN}
              </Td>
            ))}
          </Tr>
        ))}
      </tbody>
    </Table>
  )
}
