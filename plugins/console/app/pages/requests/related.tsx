import { Link } from '@tanstack/react-router'
import { useGet } from '@/api/query.ts'
import { count, counted, dateTime, dayTime, duration } from '@/lib/format.ts'
import { actionNames, phaseNames, scopeName, took } from '@/pages/guardrails/query.ts'
import { callTone } from '@/pages/mcp/query.ts'
import type { RequestDetail } from '@/pages/requests/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Skeleton } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Section } from '@/ui/section.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

const SHOWN = 50

/** The guardrail decisions on this request, and MCP calls with the same request ID. */
export function Related({ log: { request_id } }: { log: RequestDetail }) {
  return (
    <>
      <Section title="Guardrail decisions">
        <Decisions requestId={request_id} />
      </Section>
      <Section title="MCP calls with this request ID">
        <Invocations requestId={request_id} />
      </Section>
    </>
  )
}

function Decisions({ requestId }: { requestId: string }) {
  const query = useGet('/api/v1/admin/guardrails/decisions', {
    query: { request_id: requestId, page_size: SHOWN },
  })
  return (
    <Loaded query={query} skeleton={<Skeleton className="h-8" />}>
      {({ items, total }) =>
        items.length === 0 ? (
          <p className="text-muted">No decisions.</p>
        ) : (
          <>
            <Table aria-label="Guardrail decisions">
              <thead>
                <tr>
                  <Th>Decision</Th>
                  <Th>Phase</Th>
                  <Th>Evaluated by</Th>
                  <Th>Rule</Th>
                  <Th>Reason</Th>
                  <Th>Policy</Th>
                  <Th className="text-right">Duration</Th>
                </tr>
              </thead>
              <tbody>
                {items.map((decision) => (
                  <Tr key={decision.decision_id}>
                    <Td>
                      <Badge tone={actionNames[decision.action][1]}>
                        {actionNames[decision.action][0]}
                      </Badge>
                    </Td>
                    <Td>{phaseNames[decision.phase]}</Td>
                    <Td className="max-w-40 truncate">{decision.evaluator}</Td>
                    <Td className="max-w-48 truncate">{decision.rule_id ?? 'none'}</Td>
                    <Td className="max-w-48 truncate">{decision.reason_code}</Td>
                    <Td className="max-w-40 truncate">{scopeName(decision.scope)}</Td>
                    <Td className="text-right">{took(decision.latency_ms)}</Td>
                  </Tr>
                ))}
              </tbody>
            </Table>
            <Link
              to="/guardrails"
              search={{ request_id: requestId }}
              className="text-accent-text hover:underline"
            >
              View {count(total)} {total === 1 ? 'decision' : 'decisions'} in Guardrails
            </Link>
          </>
        )
      }
    </Loaded>
  )
}

function Invocations({ requestId }: { requestId: string }) {
  const query = useGet('/api/v1/admin/observability/mcp-invocations', {
    query: { request_id: requestId, page_size: SHOWN },
  })
  return (
    <Loaded query={query} skeleton={<Skeleton className="h-8" />}>
      {({ items, total }) =>
        items.length === 0 ? (
          <p className="text-muted">No calls.</p>
        ) : (
          <>
            <Table aria-label="MCP calls">
              <thead>
                <tr>
                  <Th>Time (UTC)</Th>
                  <Th>Server</Th>
                  <Th>Tool</Th>
                  <Th>Status</Th>
                  <Th className="text-right">Latency</Th>
                </tr>
              </thead>
              <tbody>
                {items.map((call) => (
                  <Tr key={call.mcp_tool_invocation_id}>
                    <Td title={dateTime(call.occurred_at)}>{dayTime(call.occurred_at)}</Td>
                    <Td className="max-w-40 truncate">{call.server_key}</Td>
                    <Td className="max-w-56 truncate font-medium">
                      <Link
                        to={`/mcp/invocations/${call.mcp_tool_invocation_id}`}
                        className="hover:text-accent-text hover:underline"
                      >
                        {call.tool_name}
                      </Link>
                    </Td>
                    <Td>
                      <Badge tone={callTone(call.status)}>{call.status.replaceAll('_', ' ')}</Badge>
                    </Td>
                    <Td className="text-right">{duration(call.latency_ms)}</Td>
                  </Tr>
                ))}
              </tbody>
            </Table>
            {total > items.length && (
              <Link
                to="/mcp/invocations"
                search={{ request_id: requestId }}
                className="text-accent-text hover:underline"
              >
                All {counted(total, 'call')}
              </Link>
            )}
          </>
        )
      }
    </Loaded>
  )
}
