import { useMutation } from '@tanstack/react-query'
import { Loader } from 'lucide-react'
import { useEffect, useState } from 'react'
import { api, take } from '@/api/client.ts'
import { invalidate, useGet } from '@/api/query.ts'
import { count, duration } from '@/lib/format.ts'
import { invalidateServers, type Server } from '@/pages/mcp/query.ts'
import { Button } from '@/ui/button.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Notice } from '@/ui/notice.tsx'

/** A discovery started from this page. It ends within two minutes. */
export function useRefresh(serverId: string) {
  return useMutation({
    mutationFn: () =>
      take(
        api.POST('/api/v1/admin/mcp/servers/{server_id}/discovery-refresh', {
          params: { path: { server_id: serverId } },
        }),
      ),
    onSettled() {
      void invalidateServers()
      void invalidate(
        '/api/v1/admin/mcp/servers/{server_id}/tools',
        '/api/v1/admin/mcp/servers/{server_id}/tools/{tool_id}/versions',
        '/api/v1/admin/mcp/servers/{server_id}/discovery-runs',
      )
    },
  })
}

export interface RefreshProps {
  readonly refresh: ReturnType<typeof useRefresh>
  readonly server: Server
}

/** The progress of a discovery, or its outcome. */
export function Refresh({ refresh, server }: RefreshProps) {
  const { isPending, data, error, reset, mutate } = refresh
  if (isPending) return <Running limitMs={server.timeout_ms} />
  if (error !== null) return <ErrorPanel error={error} onRetry={() => mutate()} />
  if (data === undefined) return null
  const dismiss = (
    <Button size="sm" kind="ghost" onClick={reset}>
      Dismiss
    </Button>
  )
  return data.status === 'success' ? (
    <Notice title="Discovery succeeded" action={dismiss}>
      <Outcome serverId={server.mcp_server_id} />
    </Notice>
  ) : (
    <Notice
      tone="warn"
      title="Discovery failed"
      action={
        <>
          <Button size="sm" onClick={() => mutate()}>
            Retry
          </Button>
          {dismiss}
        </>
      }
    >
      {data.error_summary}. The list of tools is unchanged.
    </Notice>
  )
}

function Running({ limitMs }: { limitMs: number }) {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  return (
    <div
      role="status"
      className="flex items-center gap-2.5 rounded-lg border border-line bg-panel px-4 py-3"
    >
      <Loader aria-hidden className="size-4 animate-spin text-accent-text" />
      <span>Discovering tools…</span>
      <span aria-hidden className="text-muted">
        {seconds} s (timeout {duration(limitMs)} per response)
      </span>
    </div>
  )
}

/** The counts of the newest run. */
function Outcome({ serverId }: { serverId: string }) {
  const { data } = useGet('/api/v1/admin/mcp/servers/{server_id}/discovery-runs', {
    path: { server_id: serverId },
    query: { page_size: 1 },
  })
  const run = data?.items[0]
  if (run === undefined) return null
  return (
    <>
      {count(run.tool_count)} {run.tool_count === 1 ? 'tool' : 'tools'}: {count(run.added_count)}{' '}
      added, {count(run.changed_count)} changed, {count(run.removed_count)} removed.
    </>
  )
}
