import { Link } from '@tanstack/react-router'
import { useGet } from '@/api/query.ts'
import { count, dateTime, duration } from '@/lib/format.ts'
import { discoveryNames, type Run } from '@/pages/mcp/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Card } from '@/ui/card.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Pagination } from '@/ui/pagination.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

const PAGE_SIZE = 50

export interface RunsProps {
  readonly serverId: string
  readonly page: number
  readonly onPage: (page: number) => void
}

/** The discovery runs of a server. */
export function Runs({ serverId, page, onPage }: RunsProps) {
  const query = useGet(
    '/api/v1/admin/mcp/servers/{server_id}/discovery-runs',
    { path: { server_id: serverId }, query: { page, page_size: PAGE_SIZE } },
    { placeholderData: (before) => before },
  )
  return (
    <Card padded={false} aria-label="Discovery runs">
      <Loaded query={query}>
        {(data) =>
          data.total === 0 ? (
            <EmptyState title="No discovery runs yet">
              Select “Discover tools” to run one now, or set mcp.discovery_schedule in the config
              file.
            </EmptyState>
          ) : (
            <>
              <Table aria-label="Discovery runs">
                <thead>
                  <tr>
                    <Th>Started</Th>
                    <Th>Outcome</Th>
                    <Th className="text-right">Tools</Th>
                    <Th className="text-right">Added</Th>
                    <Th className="text-right">Changed</Th>
                    <Th className="text-right">Removed</Th>
                    <Th className="text-right">Duration</Th>
                    <Th>Triggered by</Th>
                    <Th>Request</Th>
                  </tr>
                </thead>
                <tbody>
                  {data.items.map((run) => (
                    <RunRow key={run.discovery_run_id} run={run} />
                  ))}
                </tbody>
              </Table>
              <Pagination page={page} pageSize={PAGE_SIZE} total={data.total} onPage={onPage} />
            </>
          )
        }
      </Loaded>
    </Card>
  )
}

function RunRow({ run }: { run: Run }) {
  const [word, tone] = discoveryNames[run.status] ?? [run.status, 'plain']
  const took = Date.parse(run.finished_at) - Date.parse(run.started_at)
  return (
    <Tr>
      <Td>{dateTime(run.started_at)}</Td>
      <Td className="whitespace-normal">
        <Badge tone={tone}>{word}</Badge>
        {run.error_summary !== null && <span className="ml-1.5">{run.error_summary}</span>}
        {run.upstream_status !== null && (
          <span className="text-muted"> (status {run.upstream_status})</span>
        )}
      </Td>
      <Td className="text-right">{count(run.tool_count)}</Td>
      <Td className="text-right">{count(run.added_count)}</Td>
      <Td className="text-right">{count(run.changed_count)}</Td>
      <Td className="text-right">{count(run.removed_count)}</Td>
      <Td className="text-right">{duration(took)}</Td>
      <Td>
        {run.actor_user_id === null ? (
          run.trigger === 'schedule' ? (
            'schedule'
          ) : (
            'administrator'
          )
        ) : (
          <Actor id={run.actor_user_id} />
        )}
      </Td>
      <Td>
        {run.request_id === null ? (
          <span className="text-muted">n/a</span>
        ) : (
          <span className="flex items-center gap-1">
            <code className="block max-w-28 truncate font-mono text-xs" title={run.request_id}>
              {run.request_id}
            </code>
            <CopyButton text={run.request_id} label="Copy request ID" />
          </span>
        )}
      </Td>
    </Tr>
  )
}

function Actor({ id }: { id: string }) {
  const { data, isError } = useGet(
    '/api/v1/admin/users/{user_id}',
    { path: { user_id: id } },
    { staleTime: 60_000 },
  )
  if (data === undefined)
    return <span className="text-muted">{isError ? 'deleted user' : '…'}</span>
  return (
    <Link
      to={`/identity/users/${id}` as '/identity/users'}
      search={{}}
      className="hover:text-accent-text hover:underline"
    >
      {data.name}
    </Link>
  )
}
