import { useGet } from '@/api/query.ts'
import { cadenceNames, leftText, modelOf } from '@/lib/budgets.ts'
import { ago, count, date, dateTime, usd, usdExact } from '@/lib/format.ts'
import { type Alert, ownerName } from '@/pages/budgets/words.ts'
import { Badge } from '@/ui/badge.tsx'
import { Card } from '@/ui/card.tsx'
import { ChoiceFilter } from '@/ui/choice-filter.tsx'
import { Filters } from '@/ui/filters.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Pagination } from '@/ui/pagination.tsx'

const PAGE_SIZE = 50
type Status = Alert['status']
const statuses = [
  ['sent', 'All sent'],
  ['pending', 'Some pending'],
  ['failed', 'Some failed'],
] as const
const tones = { sent: 'good', pending: 'plain', failed: 'bad' } as const

export interface AlertsProps {
  readonly status: '' | Status
  readonly page: number
  readonly onStatus: (status: '' | Status) => void
  readonly onPage: (page: number) => void
  readonly onBudget: (budgetId: string) => void
}

/** All alerts with their e-mails, newest first. */
export function Alerts({ status, page, onStatus, onPage, onBudget }: AlertsProps) {
  const query = useGet(
    '/api/v1/admin/spend/budget-alerts',
    { query: { status, page, page_size: PAGE_SIZE } },
    { placeholderData: (before) => before },
  )
  return (
    <>
      <Filters narrowed={status !== ''} onClear={() => onStatus('')}>
        <ChoiceFilter
          label="E-mail status"
          any="Any e-mail status"
          className="w-44"
          options={statuses}
          value={status}
          onChange={onStatus}
        />
      </Filters>
      <Loaded query={query}>
        {(data) => (
          <Card padded={false} aria-label="Alerts">
            {data.total === 0 ? (
              <EmptyState title={status === '' ? 'No alerts yet' : 'No matching alerts'}>
                A budget raises one alert per window, when 20% or less of it is left. E-mails go to
                the user, or to the owners and admins of a service account’s team. Configure e-mail
                under <code className="font-mono">budget_alerts.email</code> in the config file.
              </EmptyState>
            ) : (
              <AlertList alerts={data.items} onBudget={onBudget} />
            )}
            {data.total > 0 && (
              <Pagination page={page} pageSize={PAGE_SIZE} total={data.total} onPage={onPage} />
            )}
          </Card>
        )}
      </Loaded>
    </>
  )
}

export interface AlertListProps {
  readonly alerts: readonly Alert[]
  /** Absent if all alerts are of one budget. */
  readonly onBudget?: (budgetId: string) => void
}

export function AlertList({ alerts, onBudget }: AlertListProps) {
  return (
    <ul aria-label="Alerts">
      {alerts.map((alert) => (
        <li
          key={alert.alert_id}
          className="grid gap-1.5 border-b border-line px-4 py-3 last:border-b-0"
        >
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
            {onBudget !== undefined && (
              <button
                type="button"
                className="text-left font-medium hover:text-accent-text hover:underline"
                onClick={() => onBudget(alert.budget_id)}
              >
                {ownerName(alert)}
              </button>
            )}
            {onBudget !== undefined && (
              <span className="min-w-0 text-muted">{modelOf(alert.scope)}</span>
            )}
            <span title={`${usdExact(alert.spend_usd)} spent`}>
              {leftText(alert.remaining_usd)} of {usd(alert.amount_usd)}{' '}
              {cadenceNames[alert.cadence]}, window from {date(alert.window_start)}
            </span>
            <span className="ml-auto text-muted">{dateTime(alert.created_at)}</span>
          </p>
          <ul className="grid gap-1">
            {alert.deliveries.map((delivery) => (
              <Delivery key={delivery.delivery_id} delivery={delivery} />
            ))}
          </ul>
        </li>
      ))}
    </ul>
  )
}

function Delivery({ delivery }: { delivery: Alert['deliveries'][number] }) {
  const { recipient, status, attempts, last_error, next_attempt_at, sent_at } = delivery
  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-xs">
      <Badge tone={tones[status]}>{status}</Badge>
      <span className="min-w-0 break-all">{recipient ?? 'no recipient'}</span>
      {sent_at !== null && <span className="text-muted">{dateTime(sent_at)}</span>}
      {attempts > 0 && (
        <span className="text-muted">
          {count(attempts)} failed {attempts === 1 ? 'attempt' : 'attempts'}
        </span>
      )}
      {next_attempt_at !== null && status === 'pending' && (
        <span className="text-muted" title={dateTime(next_attempt_at)}>
          {Date.parse(next_attempt_at) > Date.now()
            ? `next attempt ${ago(next_attempt_at)}`
            : 'due now'}
        </span>
      )}
      {last_error !== null && <span className="min-w-0 text-bad">{last_error}</span>}
    </li>
  )
}
