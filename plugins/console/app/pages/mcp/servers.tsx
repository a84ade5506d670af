import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useAll } from '@/api/query.ts'
import { oneOf, text, useFilters } from '@/lib/filters.ts'
import { ago, count, dateTime } from '@/lib/format.ts'
import { Catalog } from '@/pages/mcp/catalog.tsx'
import { authNames, discoveryNames, type Server } from '@/pages/mcp/query.ts'
import { ServerForm } from '@/pages/mcp/server-form.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { type Column, DataTable } from '@/ui/data-table.tsx'
import { Select } from '@/ui/field.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'
import { SearchInput } from '@/ui/search-input.tsx'

const filters = { search: text, status: oneOf(['active', 'all'], 'all') }
const REFRESH_MS = 15_000

/** The list of registered servers. */
export function Servers() {
  const [{ search, status }, change] = useFilters(filters)
  const [adding, setAdding] = useState<'catalog' | 'new'>()
  const navigate = useNavigate()
  const query = useAll(
    '/api/v1/admin/mcp/servers',
    { query: { include_disabled: status === 'all' } },
    { refetchInterval: REFRESH_MS, placeholderData: (before) => before },
  )
  const add = (
    <>
      <Button onClick={() => setAdding('catalog')}>Add from the catalog</Button>
      <Button kind="primary" onClick={() => setAdding('new')}>
        Add server
      </Button>
    </>
  )
  const open = (id: string) => void navigate({ to: `/mcp/servers/${id}` as '/mcp', search: {} })
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <SearchInput
          label="Search servers"
          placeholder="Key, name or URL"
          className="w-56"
          value={search}
          onChange={(next) => change({ search: next })}
        />
        <Select
          aria-label="State"
          className="w-44"
          active={status !== 'all'}
          value={status}
          onChange={({ target }) => change({ status: target.value as typeof status })}
        >
          <option value="all">Active and disabled</option>
          <option value="active">Active only</option>
        </Select>
        <span className="ml-auto flex gap-2">{add}</span>
      </div>
      <Card padded={false} aria-label="Servers">
        <Loaded query={query}>
          {(data) => (
            <DataTable
              label="MCP servers"
              columns={columns}
              rows={data.items.filter((server) => matches(server, search))}
              rowKey={({ mcp_server_id }) => mcp_server_id}
              minWidth={740}
              onOpen={({ mcp_server_id }) => open(mcp_server_id)}
              empty={
                data.total === 0 ? (
                  <EmptyState
                    title="No MCP servers yet"
                    action={<span className="flex flex-wrap gap-2">{add}</span>}
                  >
                    Add a server to let API keys call its tools through the gateway. Each call is
                    recorded.
                  </EmptyState>
                ) : (
                  <EmptyState
                    title="No matching servers"
                    action={
                      <Button onClick={() => change({ search: '', status: 'all' })}>
                        Show all
                      </Button>
                    }
                  />
                )
              }
            />
          )}
        </Loaded>
      </Card>
      <Catalog
        open={adding === 'catalog'}
        onClose={() => setAdding(undefined)}
        onAdded={(server) => open(server.mcp_server_id)}
      />
      {adding === 'new' && (
        <ServerForm
          onClose={() => setAdding(undefined)}
          onSaved={(server) => open(server.mcp_server_id)}
        />
      )}
    </>
  )
}

const columns: readonly Column<Server>[] = [
  {
    key: 'name',
    header: 'Server',
    width: '1.6fr',
    sort: ({ display_name }) => display_name.toLowerCase(),
    cell: ({ mcp_server_id, display_name, server_key, description }) => (
      <span title={description ?? undefined}>
        <Link
          to={`/mcp/servers/${mcp_server_id}` as '/mcp'}
          search={{}}
          className="font-medium hover:text-accent-text hover:underline"
        >
          {display_name}
        </Link>{' '}
        <span className="text-muted">{server_key}</span>
      </span>
    ),
  },
  {
    key: 'status',
    header: 'State',
    width: '6rem',
    sort: ({ status }) => status,
    cell: ({ status }) => <Badge tone={status === 'active' ? 'good' : 'plain'}>{status}</Badge>,
  },
  {
    key: 'auth',
    header: 'Authentication',
    width: '1.2fr',
    sort: ({ auth_mode }) => auth_mode,
    cell: ({ auth_mode }) => <span title={auth_mode}>{authNames[auth_mode] ?? auth_mode}</span>,
  },
  {
    key: 'tools',
    header: 'Tools',
    width: '4.5rem',
    align: 'right',
    sort: ({ tool_count }) => tool_count,
    cell: ({ tool_count, last_successful_discovery_at }) =>
      last_successful_discovery_at === null ? (
        <span className="text-muted">n/a</span>
      ) : (
        count(tool_count)
      ),
  },
  {
    key: 'discovery',
    header: 'Last discovery',
    width: '1.8fr',
    sort: ({ last_discovery_at }) => last_discovery_at ?? '',
    cell: (server) => <Discovery server={server} />,
  },
]

/** The outcome, time and error of the last discovery. */
function Discovery({ server }: { server: Server }) {
  const { discovery_status, last_discovery_at, last_error_summary } = server
  const [word, tone] = discoveryNames[discovery_status] ?? [discovery_status, 'plain']
  return (
    <span
      className="flex min-w-0 items-center gap-1.5"
      title={
        last_discovery_at === null
          ? undefined
          : [dateTime(last_discovery_at), last_error_summary].filter(Boolean).join(': ')
      }
    >
      <Badge tone={tone}>{word}</Badge>
      <span className="truncate text-muted">
        {last_discovery_at !== null && ago(last_discovery_at)}
        {last_error_summary !== null && `, ${last_error_summary}`}
      </span>
    </span>
  )
}

function matches({ server_key, display_name, server_url }: Server, search: string): boolean {
  const wanted = search.trim().toLowerCase()
  return [server_key, display_name, server_url].some((word) => word.toLowerCase().includes(wanted))
}
