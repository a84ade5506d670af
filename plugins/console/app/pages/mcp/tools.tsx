import { useMemo, useState } from 'react'
import { useAll } from '@/api/query.ts'
import { ago, count, dateTime } from '@/lib/format.ts'
import { hidesText } from '@/lib/hidden-text.ts'
import type { Server, Tool } from '@/pages/mcp/query.ts'
import { ToolSheet, ToolState } from '@/pages/mcp/tool-sheet.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { type Column, DataTable } from '@/ui/data-table.tsx'
import { Checkbox, Input } from '@/ui/field.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'

export interface ToolsProps {
  readonly server: Server
  /** The name of the open tool; '': none. */
  readonly chosen: string
  readonly onChoose: (name: string) => void
  readonly onRefresh: () => void
}

/** The discovered tools; removed ones are optional. */
export function Tools({ server, chosen, onChoose, onRefresh }: ToolsProps) {
  const [search, setSearch] = useState('')
  const [gone, setGone] = useState(true)
  const query = useAll('/api/v1/admin/mcp/servers/{server_id}/tools', {
    path: { server_id: server.mcp_server_id },
    query: { include_inactive: true },
  })
  const all = query.data?.items
  const rows = useMemo(() => {
    const wanted = search.trim().toLowerCase()
    return (all ?? []).filter(
      ({ upstream_name, description, is_active }) =>
        (gone || is_active) &&
        `${upstream_name} ${description ?? ''}`.toLowerCase().includes(wanted),
    )
  }, [all, search, gone])
  return (
    <Card
      padded={false}
      title="Tools"
      note={
        all &&
        `${count(all.filter(({ is_active, is_offered }) => is_active && is_offered).length)} visible`
      }
      actions={
        <>
          <Checkbox
            label="Show removed tools"
            checked={gone}
            onChange={({ target }) => setGone(target.checked)}
          />
          <Input
            type="search"
            aria-label="Search tools"
            placeholder="Name or description"
            className="w-48"
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
        </>
      }
    >
      <Loaded query={query}>
        {(data) => (
          <>
            <DataTable
              label="Tools"
              columns={columns}
              rows={rows}
              rowKey={({ mcp_tool_id }) => mcp_tool_id}
              minWidth={720}
              onOpen={({ upstream_name }) => onChoose(upstream_name)}
              empty={
                data.total > 0 ? (
                  <EmptyState title="No matching tools" />
                ) : (
                  <EmptyState
                    title={
                      server.last_successful_discovery_at === null
                        ? 'No discovery yet'
                        : 'The server has no tools'
                    }
                    action={
                      server.status === 'active' && (
                        <Button kind="primary" onClick={onRefresh}>
                          Discover tools
                        </Button>
                      )
                    }
                  >
                    {server.status === 'active'
                      ? 'Clients can use the server without discovery. Discovery lists its tools here and shows changes.'
                      : 'The server is disabled. Enable it to discover its tools.'}
                  </EmptyState>
                )
              }
            />
            <ToolSheet
              server={server}
              tool={data.items.find(({ upstream_name }) => upstream_name === chosen)}
              onClose={() => onChoose('')}
            />
          </>
        )}
      </Loaded>
    </Card>
  )
}

const columns: readonly Column<Tool>[] = [
  {
    key: 'name',
    header: 'Tool',
    width: '1.2fr',
    sort: ({ upstream_name }) => upstream_name,
    cell: ({ upstream_name }) => (
      <bdi className="font-mono text-xs font-medium" title={upstream_name}>
        {upstream_name}
      </bdi>
    ),
  },
  {
    key: 'description',
    header: 'Description',
    width: '2fr',
    cell: ({ description }) => (
      <bdi className="text-muted" title={description ?? undefined}>
        {description ?? 'none'}
      </bdi>
    ),
  },
  {
    key: 'state',
    header: 'State',
    width: '17rem',
    cell: ({ is_active, is_offered, version_count, description }) => (
      <span className="flex gap-1">
        <ToolState active={is_active} offered={is_offered} />
        {version_count > 1 && <Badge tone="warn">{count(version_count)} versions</Badge>}
        {hidesText(description) && <Badge tone="bad">invisible text</Badge>}
      </span>
    ),
  },
  {
    key: 'changed',
    header: 'Last changed',
    width: '7rem',
    align: 'right',
    sort: ({ last_changed_at }) => last_changed_at,
    cell: ({ last_changed_at }) => (
      <span title={dateTime(last_changed_at)}>{ago(last_changed_at)}</span>
    ),
  },
]
