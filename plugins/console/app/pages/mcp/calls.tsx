import { useLocation, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useGet } from '@/api/query.ts'
import {
  instant,
  isNarrowed,
  oneOf,
  page as pageFilter,
  text,
  useFilters,
  usualOf,
} from '@/lib/filters.ts'
import { bytes, dateTime, dayTime, duration, NOT_KNOWN } from '@/lib/format.ts'
import { CallSheet } from '@/pages/mcp/call-sheet.tsx'
import { KeyFilter } from '@/pages/mcp/key-filter.tsx'
import { type Call, callStatuses, callTone, policyNames } from '@/pages/mcp/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Card } from '@/ui/card.tsx'
import { ChoiceFilter } from '@/ui/choice-filter.tsx'
import type { Column } from '@/ui/data-table.tsx'
import { Filters } from '@/ui/filters.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { OwnerFilter } from '@/ui/owner-filter.tsx'
import { PagedTable } from '@/ui/paged-table.tsx'
import { RangePicker } from '@/ui/range-picker.tsx'
import { TextFilter } from '@/ui/text-filter.tsx'

const kinds = ['user', 'team'] as const
const policyResults = ['allowed', 'denied', 'not_evaluated'] as const
const filters = {
  occurred_at_start: instant,
  occurred_at_end: instant,
  server_key: text,
  tool_name: text,
  status: oneOf(['', ...callStatuses], ''),
  policy_result: oneOf(['', ...policyResults], ''),
  request_id: text,
  api_key_id: text,
  user_id: text,
  team_id: text,
  page: pageFilter,
}
const cleared = usualOf(filters, 'page')
const PAGE_SIZE = 100
const REFRESH_MS = 15_000

/** All tools/call requests through the proxy; `id`: the open one. */
export function Calls({ id }: { id: string | undefined }) {
  const [values, change] = useFilters(filters)
  const navigate = useNavigate()
  const searchStr = useLocation({ select: ({ searchStr }) => searchStr })
  const search = Object.fromEntries(new URLSearchParams(searchStr))
  const { status, policy_result } = values
  const list = useGet(
    '/api/v1/admin/observability/mcp-invocations',
    { query: { ...values, page_size: PAGE_SIZE } },
    { placeholderData: (before) => before, refetchInterval: REFRESH_MS },
  )
  const servers = useGet('/api/v1/admin/mcp/servers', {
    query: { include_disabled: true, page_size: 200 },
  })
  const filtered = isNarrowed(values, cleared)
  const open = (call: string | undefined) =>
    void navigate({
      to: (call === undefined ? '/mcp/invocations' : `/mcp/invocations/${call}`) as '/mcp',
      search,
      replace: call === undefined,
    })
  return (
    <>
      <Filters narrowed={filtered} onClear={() => change(cleared)}>
        <RangePicker
          label="Time"
          value={{ start: values.occurred_at_start, end: values.occurred_at_end }}
          onChange={({ start, end }) => change({ occurred_at_start: start, occurred_at_end: end })}
        />
        <TextFilter
          label="Server"
          value={values.server_key}
          onChange={(server_key) => change({ server_key })}
          options={servers.data?.items.map(({ server_key }) => server_key)}
        />
        <TextFilter
          label="Tool"
          value={values.tool_name}
          onChange={(tool_name) => change({ tool_name })}
        />
        <OwnerFilter label="User or team" kinds={kinds} values={values} change={change} />
        <KeyFilter value={values.api_key_id} onChange={(api_key_id) => change({ api_key_id })} />
        <ChoiceFilter
          label="Status"
          any="Any status"
          className="w-36"
          options={callStatuses.map((word) => [word, word.replaceAll('_', ' ')])}
          value={status}
          onChange={(next) => change({ status: next })}
        />
        <ChoiceFilter
          label="Guardrails"
          any="Guardrails: any"
          className="w-40"
          options={policyResults.map((word) => [word, `Guardrails: ${policyNames[word][0]}`])}
          value={policy_result}
          onChange={(next) => change({ policy_result: next })}
        />
        <TextFilter
          label="Request ID"
          value={values.request_id}
          onChange={(request_id) => change({ request_id })}
        />
      </Filters>
      <Card padded={false} aria-label="Tool calls">
        <PagedTable
          query={list}
          label="Tool calls"
          columns={columns}
          rowKey={({ mcp_tool_invocation_id }) => mcp_tool_invocation_id}
          minWidth={980}
          onOpen={({ mcp_tool_invocation_id }) => open(mcp_tool_invocation_id)}
          onPage={(next) => change({ page: next })}
          filtered={
            filtered
              ? {
                  title: 'No calls match these filters',
                  hint: 'Server and tool names must match exactly.',
                  onClear: () => change(cleared),
                }
              : undefined
          }
          empty={
            <EmptyState title="No tool calls yet">
              Connect an MCP client to /mcp/KEY (the key of a server) with an API key. Each
              tools/call appears here when it starts.
            </EmptyState>
          }
        />
      </Card>
      <CallSheet id={id} onClose={() => open(undefined)} />
    </>
  )
}

function Muted({ children }: { children: ReactNode }) {
  return <span className="text-muted">{children}</span>
}

const columns: readonly Column<Call>[] = [
  {
    key: 'time',
    header: 'Time (UTC)',
    width: '9.75rem',
    cell: ({ occurred_at }) => <span title={dateTime(occurred_at)}>{dayTime(occurred_at)}</span>,
  },
  {
    key: 'status',
    header: 'Status',
    width: '1.8fr',
    cell: ({ status, error_code }) => (
      <span className="flex min-w-0 items-center gap-1.5" title={error_code ?? undefined}>
        <Badge tone={callTone(status)}>{status.replaceAll('_', ' ')}</Badge>
        <span className="truncate text-muted">{error_code}</span>
      </span>
    ),
  },
  { key: 'server', header: 'Server', width: '1fr', cell: ({ server_key }) => server_key },
  {
    key: 'tool',
    header: 'Tool',
    width: '1.3fr',
    cell: ({ tool_name }) => (
      <bdi className="font-mono text-xs" title={tool_name}>
        {tool_name}
      </bdi>
    ),
  },
  {
    key: 'owner',
    header: 'Owner',
    width: '1fr',
    cell: ({ owner_name }) => owner_name ?? <Muted>deleted owner</Muted>,
  },
  {
    key: 'policy',
    header: 'Guardrails',
    width: '6.5rem',
    cell: ({ policy_result }) => {
      const [word, tone] = policyNames[policy_result]
      return <Badge tone={tone}>{word}</Badge>
    },
  },
  {
    key: 'latency',
    header: 'Latency',
    width: '5rem',
    align: 'right',
    cell: ({ latency_ms }) => duration(latency_ms),
  },
  {
    key: 'size',
    header: 'Result',
    width: '5.5rem',
    align: 'right',
    cell: ({ response_bytes }) =>
      response_bytes === null ? <Muted>{NOT_KNOWN}</Muted> : bytes(response_bytes),
  },
]
