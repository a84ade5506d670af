import {
  count,
  dateTime,
  dayTime,
  duration,
  NOT_KNOWN,
  short,
  usd,
  usdExact,
} from '@/lib/format.ts'
import { operationNames, type RequestLog } from '@/pages/requests/query.ts'
import { StatusBadge } from '@/pages/requests/status-badge.tsx'
import type { Column } from '@/ui/data-table.tsx'

export const columns: readonly Column<RequestLog>[] = [
  {
    key: 'time',
    header: 'Time (UTC)',
    width: '9.5rem',
    cell: ({ occurred_at }) => <span title={dateTime(occurred_at)}>{dayTime(occurred_at)}</span>,
  },
  {
    key: 'status',
    header: 'Status',
    width: '2.1fr',
    cell: (log) => {
      const word =
        log.error_code ?? (log.outcome === 'success' ? '' : log.outcome.replaceAll('_', ' '))
      return (
        <span
          className="flex min-w-0 items-center gap-1.5"
          title={log.error_message === null ? undefined : `${word}: ${log.error_message}`}
        >
          <StatusBadge status={log.status_code} outcome={log.outcome} />
          <span className="truncate text-muted">{word}</span>
        </span>
      )
    },
  },
  {
    key: 'model',
    header: 'Model and provider',
    width: '1.9fr',
    cell: ({ model_key: asked, resolved_model_key: run, provider_key }) => (
      <span title={run === null || run === asked ? (asked ?? undefined) : `${asked} → ${run}`}>
        {asked ?? <Nothing />} <span className="text-muted">{provider_key}</span>
      </span>
    ),
  },
  {
    key: 'owner',
    header: 'Owner',
    width: '1.3fr',
    cell: (log) => <Owner log={log} />,
  },
  {
    key: 'operation',
    header: 'Kind',
    width: '8.5rem',
    cell: ({ operation, stream }) => (
      <>
        {operationNames[operation] ?? operation}
        {stream && <span className="text-muted"> stream</span>}
      </>
    ),
  },
  {
    key: 'harness',
    header: 'Client',
    width: '1.2fr',
    cell: ({ agent_harness_key: key, agent_harness_label: label, user_agent }) => (
      <span title={user_agent ?? undefined}>{key === 'unknown' ? <Nothing /> : label}</span>
    ),
  },
  {
    key: 'latency',
    header: 'Latency',
    width: '5rem',
    align: 'right',
    cell: ({ latency_ms }) => duration(latency_ms),
  },
  {
    key: 'tokens',
    header: 'Tokens',
    width: '4.75rem',
    align: 'right',
    cell: ({ total_tokens: tokens }) => (
      <span title={count(tokens)}>{tokens === null ? <Nothing /> : short(tokens)}</span>
    ),
  },
  {
    key: 'cost',
    header: 'Cost',
    width: '5.75rem',
    align: 'right',
    cell: ({ cost_usd: cost }) =>
      cost === null ? <Nothing /> : <span title={usdExact(cost)}>{usd(cost)}</span>,
  },
]

function Nothing() {
  return <span className="text-muted">{NOT_KNOWN}</span>
}

function Owner({ log: { owner_kind, owner_name, team_name } }: { log: RequestLog }) {
  if (owner_kind === null) return <span className="text-muted">unknown</span>
  return (
    <span title={team_name === null ? undefined : `Team ${team_name}`}>
      {owner_name ?? <span className="text-muted">deleted owner</span>}
    </span>
  )
}
