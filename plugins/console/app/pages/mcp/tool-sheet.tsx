import { Link } from '@tanstack/react-router'
import { dateTime } from '@/lib/format.ts'
import { History } from '@/pages/mcp/history.tsx'
import { OfferButton } from '@/pages/mcp/offer-button.tsx'
import type { Server, Tool } from '@/pages/mcp/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { buttonStyle } from '@/ui/button.tsx'
import { Sheet } from '@/ui/dialog.tsx'
import { JsonTree } from '@/ui/json-tree.tsx'
import { Section } from '@/ui/section.tsx'
import { Visible } from '@/ui/visible.tsx'

export interface ToolSheetProps {
  readonly server: Server
  readonly tool: Tool | undefined
  readonly onClose: () => void
}

/** One tool: the definition that models receive, and its versions. */
export function ToolSheet({ server, tool, onClose }: ToolSheetProps) {
  return (
    <Sheet
      open={tool !== undefined}
      onClose={onClose}
      title={tool?.upstream_name ?? ''}
      description={tool?.display_name ?? undefined}
    >
      {tool !== undefined && (
        <div className="grid gap-5">
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
            <ToolState active={tool.is_active} offered={tool.is_offered} />
            <span className="text-muted">
              Schema version {tool.schema_version}, first seen {dateTime(tool.first_discovered_at)},
              last seen {dateTime(tool.last_discovered_at)}
            </span>
            <Link
              to="/mcp/invocations"
              search={{ server_key: server.server_key, tool_name: tool.upstream_name }}
              className={buttonStyle({ size: 'sm' })}
            >
              View calls
            </Link>
            <OfferButton server={server} tool={tool} />
          </div>
          <Section title="Description">
            {tool.description === null ? (
              <p className="text-muted">No description.</p>
            ) : (
              <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
                <Visible text={tool.description} />
              </p>
            )}
          </Section>
          <Section title="Arguments">
            <JsonTree value={tool.input_schema} open={4} />
          </Section>
          <Section title="Versions">
            <History serverId={server.mcp_server_id} tool={tool} />
          </Section>
        </div>
      )}
    </Sheet>
  )
}

/** Whether callers can use a tool. */
export function ToolState({ active, offered }: { active: boolean; offered: boolean }) {
  if (!active) return <Badge>removed</Badge>
  return offered ? <Badge tone="good">visible</Badge> : <Badge tone="warn">hidden</Badge>
}
