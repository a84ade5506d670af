import { Link, useNavigate } from '@tanstack/react-router'
import { type Data, useGet } from '@/api/query.ts'
import { colorOf, restColor } from '@/charts/palette.ts'
import { TimeSeries } from '@/charts/time-series.tsx'
import { counted, date, usd, usdExact, usdOf, usdShort } from '@/lib/format.ts'
import { requestsOf } from '@/pages/spend/query.ts'
import { Card } from '@/ui/card.tsx'
import { Skeleton } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Segments } from '@/ui/tabs.tsx'

type Answer = Data<'/api/v1/admin/spend/daily'>
type Series = Answer['series'][number]

const DAY_MS = 86_400_000
const choices = [
  { key: 'model', label: 'By model' },
  { key: 'owner', label: 'By owner' },
] as const

const dayOf = (at: string) => `${date(at)}, UTC`

export interface DailyProps {
  readonly by: 'model' | 'owner'
  readonly window: {
    readonly days: 7 | 30
    readonly owner_kind: 'all' | 'user' | 'service_account'
  }
  readonly onBy: (by: 'model' | 'owner') => void
}

/** Spend by day, stacked. A click on a day or a name shows its requests. */
export function Daily({ by, window, onBy }: DailyProps) {
  const navigate = useNavigate()
  const query = useGet(
    '/api/v1/admin/spend/daily',
    { query: { ...window, by } },
    { placeholderData: (before) => before },
  )
  return (
    <Card
      title="Spend by day"
      aria-label="Spend by day"
      note="click a day to see its requests"
      actions={<Segments label="Group by" options={choices} value={by} onChange={onBy} />}
    >
      <Loaded query={query} skeleton={<Skeleton className="h-64" />}>
        {(answer) => (
          <div className="grid gap-3">
            <TimeSeries
              label={`Spend by day and ${answer.by}`}
              kind="bar"
              height={240}
              legend={false}
              series={answer.series.map((one, index) => ({
                key: `s${index}`,
                label: nameOf(one),
                color: colorAt(one, index),
              }))}
              format={usdOf}
              axis={usdShort}
              moment={dayOf}
              points={pointsOf(answer)}
              onPick={(at) =>
                void navigate({
                  to: '/requests',
                  search: {
                    occurred_at_start: new Date(at).toISOString(),
                    occurred_at_end: new Date(Date.parse(at) + DAY_MS).toISOString(),
                  },
                })
              }
            />
            <Names answer={answer} />
          </div>
        )}
      </Loaded>
    </Card>
  )
}

const colorAt = (one: Series, index: number) => (one.others ? restColor : colorOf(index))

function nameOf(one: Series): string {
  return one.others ? 'All others' : (one.model_key ?? one.owner_name ?? 'deleted owner')
}

function pointsOf({ series }: Answer) {
  const [first] = series
  return (first?.daily ?? []).map(({ day }, n) => ({
    at: `${day}T00:00:00.000Z`,
    values: Object.fromEntries(
      series.map((one, index) => [`s${index}`, Number(one.daily[n]?.spend_usd ?? 0)]),
    ),
  }))
}

function Names({ answer }: { answer: Answer }) {
  return (
    <ul className="grid gap-x-6 gap-y-1 sm:grid-cols-2 xl:grid-cols-4">
      {answer.series.map((one, index) => (
        <li
          key={one.others ? '' : (one.model_key ?? one.owner_id)}
          className="flex min-w-0 items-center gap-1.5"
        >
          <span
            aria-hidden
            className="size-2 shrink-0 rounded-sm"
            style={{ background: colorAt(one, index) }}
          />
          <Name one={one} answer={answer} />
          <span
            className="ml-auto whitespace-nowrap"
            title={`${usdExact(one.spend_usd)}, ${counted(one.request_count, 'request')}`}
          >
            {usd(one.spend_usd)}
          </span>
        </li>
      ))}
    </ul>
  )
}

function Name({ one, answer }: { one: Series; answer: Answer }) {
  if (one.others) return <span className="text-muted">All others</span>
  const search: Record<string, string> =
    one.model_key === null
      ? { [`${one.owner_kind}_id`]: one.owner_id ?? '' }
      : { model_key: one.model_key }
  return (
    <Link
      to="/requests"
      search={requestsOf(answer, search)}
      className="min-w-0 truncate hover:text-accent-text hover:underline"
    >
      {nameOf(one)}
    </Link>
  )
}
