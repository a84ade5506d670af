import { useNavigate } from '@tanstack/react-router'
import { useSubPath } from '@/lib/filters.ts'
import { Calls } from '@/pages/mcp/calls.tsx'
import { ServerPage } from '@/pages/mcp/server.tsx'
import { Servers } from '@/pages/mcp/servers.tsx'
import { Page } from '@/ui/page.tsx'
import { Tabs } from '@/ui/tabs.tsx'

const tabs = [
  { key: 'servers', label: 'Servers' },
  { key: 'invocations', label: 'Tool calls' },
] as const

/** The MCP servers behind the gateway, and calls of their tools. */
export default function Mcp() {
  const [part, id] = useSubPath()
  const navigate = useNavigate()
  if (part === 'servers' && id !== undefined) return <ServerPage id={id} />
  const shown = part === 'invocations' ? 'invocations' : 'servers'
  return (
    <Page title="MCP servers" note="Clients connect to a server at /mcp/KEY with a gateway API key">
      <Tabs
        label="MCP"
        tabs={tabs}
        value={shown}
        onChange={(key) =>
          void navigate({ to: key === 'servers' ? '/mcp' : '/mcp/invocations', search: {} })
        }
      >
        <div className="grid gap-4">{shown === 'servers' ? <Servers /> : <Calls id={id} />}</div>
      </Tabs>
    </Page>
  )
}
