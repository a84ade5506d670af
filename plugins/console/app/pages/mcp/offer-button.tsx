import { useMutation } from '@tanstack/react-query'
import { api, take } from '@/api/client.ts'
import { invalidate } from '@/api/query.ts'
import { invalidateServers, type Server, type Tool } from '@/pages/mcp/query.ts'
import { hiding, showing } from '@/pages/mcp/tool-rule.ts'
import { Button } from '@/ui/button.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { toast } from '@/ui/toast.tsx'

/** Hides a tool from callers, or shows it again. */
export function OfferButton({ server, tool }: { readonly server: Server; readonly tool: Tool }) {
  const { upstream_name: name, is_offered: offered } = tool
  const change = useMutation({
    mutationFn: () =>
      take(
        api.PATCH('/api/v1/admin/mcp/servers/{server_id}', {
          params: { path: { server_id: server.mcp_server_id } },
          body: { tools: offered ? hiding(server.tools, name) : showing(server.tools, name) },
        }),
      ),
    onSuccess() {
      void invalidateServers()
      void invalidate('/api/v1/admin/mcp/servers/{server_id}/tools')
      toast(offered ? `${name} hidden from callers` : `${name} visible to callers`)
    },
  })
  return (
    <>
      <Button size="sm" disabled={change.isPending} onClick={() => change.mutate()}>
        {offered ? 'Hide from callers' : 'Show to callers'}
      </Button>
      {change.error && <ErrorPanel error={change.error} />}
    </>
  )
}
