import { Link } from '@tanstack/react-router'
import { dateTime, dayTime } from '@/lib/format.ts'
import {
  actionNames,
  type Decision,
  isMcp,
  phaseNames,
  scopeName,
  took,
} from '@/pages/guardrails/query.ts'
import { Badge } from '@/ui/badge.tsx'
import type { Column } from '@/ui/data-table.tsx'

export const columns: readonly Column<Decision>[] = [
  {
    key: 'time',
    header: 'Time (UTC)',
    width: '9.75rem',
    cell: ({ occurred_at }) => <span title={dateTime(occurred_at)}>{dayTime(occurred_at)}</span>,
  },
  {
    key: 'action',
    header: 'Decision',
    width: '6.5rem',
    cell: ({ action }) => {
      const [word, tone] = actionNames[action]
      return <Badge tone={tone}>{word}</Badge>
    },
  },
  {
    key: 'phase',
    header: 'Phase',
    width: '9.5rem',
    cell: ({ phase }) => phaseNames[phase],
  },
  {
    key: 'evaluator',
    header: 'Evaluated by',
    width: '1fr',
    cell: ({ evaluator }) => <span title={evaluator}>{evaluator}</span>,
  },
  {
    key: 'rule',
    header: 'Rule',
    width: '1fr',
    cell: ({ rule_id }) => rule_id ?? <span className="text-muted">none</span>,
  },
  {
    key: 'reason',
    header: 'Reason',
    width: '1.4fr',
    cell: ({ reason_code, failure_disposition }) => (
      <span title={reason_code}>
        {reason_code}
        {failure_disposition !== null && (
          <span className="text-warn"> {failure_disposition.replace('_', ' ')}</span>
        )}
      </span>
    ),
  },
  {
    key: 'scope',
    header: 'Policy',
    width: '1.2fr',
    cell: ({ scope }) => <span title={scope}>{scopeName(scope)}</span>,
  },
  {
    key: 'request',
    header: 'Source',
    width: '5.5rem',
    cell: ({ request_id, phase }) =>
      phase === 'harness_pre_tool' ? (
        <span className="text-muted">hook</span>
      ) : (
        <Link
          to={isMcp(phase) ? '/mcp/invocations' : '/requests'}
          search={{ request_id }}
          className="text-accent-text hover:underline"
          onClick={(event) => event.stopPropagation()}
        >
          {isMcp(phase) ? 'tool call' : 'request'}
        </Link>
      ),
  },
  {
    key: 'latency',
    header: 'Duration',
    width: '5.5rem',
    align: 'right',
    cell: ({ latency_ms }) => took(latency_ms),
  },
]
