import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, take } from '@/api/client.ts'
import { useGet } from '@/api/query.ts'
import { oneOf, page, text, useFilters } from '@/lib/filters.ts'
import { dateTime, duration } from '@/lib/format.ts'
import { callersText } from '@/pages/mcp/allowlist-fields.tsx'
import { authNames, discoveryNames, invalidateServers, type Server } from '@/pages/mcp/query.ts'
import { Refresh, useRefresh } from '@/pages/mcp/refresh.tsx'
import { Runs } from '@/pages/mcp/runs.tsx'
import { ServerForm } from '@/pages/mcp/server-form.tsx'
import { Tools } from '@/pages/mcp/tools.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button, buttonStyle } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Fact, Id } from '@/ui/fact.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Loaded, Page } from '@/ui/page.tsx'
import { Tabs } from '@/ui/tabs.tsx'
import { toast } from '@/ui/toast.tsx'

const filters = { view: oneOf(['tools', 'runs'], 'tools'), tool: text, page }
const tabs = [
  { key: 'tools', label: 'Tools' },
  { key: 'runs', label: 'Discovery runs' },
] as const

/** One server, with its settings, tools and discovery runs. */
export function ServerPage({ id }: { id: string }) {
  const query = useGet('/api/v1/admin/mcp/servers/{server_id}', { path: { server_id: id } })
  const [values, change] = useFilters(filters)
  const refresh = useRefresh(id)
  const server = query.data?.server
  return (
    <Page
      title={server?.display_name ?? 'MCP server'}
      note={
        <Link to="/mcp" search={{}} className="text-accent-text hover:underline">
          All MCP servers
        </Link>
      }
      actions={server && <Actions server={server} refresh={refresh} />}
    >
      <Loaded query={query}>
        {({ server: shown }) => (
          <>
            <Refresh refresh={refresh} server={shown} />
            <Facts server={shown} />
            <Tabs
              label="Server"
              tabs={tabs}
              value={values.view}
              onChange={(view) => change({ view, tool: '' })}
            >
              {values.view === 'tools' ? (
                <Tools
                  server={shown}
                  chosen={values.tool}
                  onChoose={(tool) => change({ tool })}
                  onRefresh={() => refresh.mutate()}
                />
              ) : (
                <Runs serverId={id} page={values.page} onPage={(next) => change({ page: next })} />
              )}
            </Tabs>
          </>
        )}
      </Loaded>
    </Page>
  )
}

interface ActionsProps {
  readonly server: Server
  readonly refresh: ReturnType<typeof useRefresh>
}

function Actions({ server, refresh }: ActionsProps) {
  const [open, setOpen] = useState<'edit' | 'disable'>()
  const close = () => setOpen(undefined)
  const path = { server_id: server.mcp_server_id }
  const disabled = server.status === 'disabled'
  const toggle = useMutation({
    mutationFn: () =>
      take(
        disabled
          ? api.POST('/api/v1/admin/mcp/servers/{server_id}/enable', { params: { path } })
          : api.POST('/api/v1/admin/mcp/servers/{server_id}/disable', { params: { path } }),
      ),
    onSuccess() {
      void invalidateServers()
      toast(disabled ? 'Server enabled' : 'Server disabled')
      close()
    },
  })
  return (
    <>
      <Link
        to="/mcp/invocations"
        search={{ server_key: server.server_key }}
        className={buttonStyle({})}
      >
        View calls
      </Link>
      <Button disabled={disabled || refresh.isPending} onClick={() => refresh.mutate()}>
        Discover tools
      </Button>
      <Button onClick={() => setOpen('edit')}>Edit</Button>
      <Button
        kind={disabled ? 'primary' : 'secondary'}
        disabled={toggle.isPending}
        onClick={() => (disabled ? toggle.mutate() : setOpen('disable'))}
      >
        {disabled ? 'Enable' : 'Disable'}
      </Button>
      <Confirm
        open={open === 'disable'}
        onClose={close}
        onConfirm={() => toggle.mutate()}
        title={`Disable ${server.display_name}?`}
        consequence={
          <>
            Clients of <code className="font-mono">/mcp/{server.server_key}</code> get “not found”.
            The server’s {server.tool_count} {server.tool_count === 1 ? 'tool' : 'tools'}, calls and
            settings are kept, and you can enable it again.
          </>
        }
        action="Disable"
        busy={toggle.isPending}
        error={toggle.error}
      />
      {toggle.error && open === undefined && <ErrorPanel error={toggle.error} />}
      {open === 'edit' && <ServerForm server={server} onClose={close} onSaved={() => {}} />}
    </>
  )
}

function Facts({ server }: { server: Server }) {
  const { auth_mode, auth_config, secret_moved } = server
  const address = `${window.location.origin}/mcp/${server.server_key}`
  const settings = Object.entries(auth_config)
  const [word, tone] = discoveryNames[server.discovery_status] ?? [server.discovery_status, 'plain']
  return (
    <>
      {secret_moved !== null && (
        <Notice tone="warn" title="The secret is sent to a new origin">
          Since {dateTime(secret_moved.at)} the secret for {secret_moved.from} is sent to{' '}
          {secret_moved.to}. Edit the server and set another secret reference, unless both origins
          have the same operator.
        </Notice>
      )}
      <Card aria-label="Server details">
        {server.description !== null && <p className="mb-3">{server.description}</p>}
        <dl className="grid gap-x-8 gap-y-2.5 md:grid-cols-2 xl:grid-cols-3">
          <Fact label="State">
            <Badge tone={server.status === 'active' ? 'good' : 'plain'}>{server.status}</Badge>
            {server.disabled_at !== null && (
              <span className="text-muted"> since {dateTime(server.disabled_at)}</span>
            )}
          </Fact>
          <Fact label="Client URL">
            <Id id={address} label="Copy client URL" />
          </Fact>
          <Fact label="Upstream URL">
            <Id id={server.server_url} label="Copy upstream URL" />
          </Fact>
          <Fact label="Authentication">
            {authNames[auth_mode] ?? auth_mode}
            {settings.map(([name, value]) => (
              <code key={name} className="block font-mono text-xs text-muted">
                {name}: {typeof value === 'string' ? value : JSON.stringify(value)}
              </code>
            ))}
          </Fact>
          <Fact label="Last discovery">
            <Badge tone={tone}>{word}</Badge>{' '}
            {server.last_discovery_at !== null && dateTime(server.last_discovery_at)}
            {server.last_error_summary !== null && (
              <span className="block text-bad">{server.last_error_summary}</span>
            )}
          </Fact>
          <Fact label="Last successful discovery">
            {server.last_successful_discovery_at === null
              ? 'none'
              : dateTime(server.last_successful_discovery_at)}
            {server.protocol_version !== null && (
              <span className="text-muted"> protocol {server.protocol_version}</span>
            )}
          </Fact>
          <Fact label="Callers">{callersText(server.allowlist)}</Fact>
          <Fact label="Timeout">{duration(server.timeout_ms)}</Fact>
          <Fact label="Source">
            {server.from_config
              ? 'config file. Changes made here override it'
              : server.recommended_catalog_key === null
                ? 'added by an administrator'
                : 'added from the catalog'}
          </Fact>
          <Fact label="Private addresses">
            {server.allow_private ? 'allowed by the config file' : 'only as the config file allows'}
          </Fact>
        </dl>
      </Card>
    </>
  )
}
