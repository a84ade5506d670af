import { Link } from '@tanstack/react-router'
import { type Data, useGet } from '@/api/query.ts'
import { bytes, dateTime, duration, NOT_KNOWN } from '@/lib/format.ts'
import { callTone, policyNames } from '@/pages/mcp/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Sheet } from '@/ui/dialog.tsx'
import { Fact, Id } from '@/ui/fact.tsx'
import { JsonTree } from '@/ui/json-tree.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Section } from '@/ui/section.tsx'

type Detail = Data<'/api/v1/admin/observability/mcp-invocations/{mcp_tool_invocation_id}'>

const linkStyle = 'text-accent-text hover:underline'

/** One tool call, with its arguments, its result and links to related data. */
export function CallSheet({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useGet(
    '/api/v1/admin/observability/mcp-invocations/{mcp_tool_invocation_id}',
    { path: { mcp_tool_invocation_id: id ?? '' } },
    { enabled: id !== undefined },
  )
  const title = query.data === undefined ? 'Tool call' : `Tool call: ${query.data.tool_name}`
  return (
    <Sheet open={id !== undefined} onClose={onClose} title={title}>
      <Loaded query={query}>
        {(call) => (
          <div className="grid gap-5">
            <Facts call={call} />
            <Payload call={call} />
          </div>
        )}
      </Loaded>
    </Sheet>
  )
}

function Facts({ call }: { call: Detail }) {
  const [policy, policyTone] = policyNames[call.policy_result]
  const ownerSearch: Record<string, string> =
    call.user_id === null
      ? { service_account_id: call.service_account_id ?? '' }
      : { user_id: call.user_id }
  return (
    <dl className="grid gap-x-6 gap-y-2.5 sm:grid-cols-2 lg:grid-cols-3">
      <Fact label="Status">
        <Badge tone={callTone(call.status)}>{call.status.replaceAll('_', ' ')}</Badge>
        {call.error_code !== null && <code className="ml-1.5 text-xs">{call.error_code}</code>}
      </Fact>
      <Fact label="Guardrails">
        <Badge tone={policyTone}>{policy}</Badge>{' '}
        <Link to="/guardrails" search={{ request_id: call.request_id }} className={linkStyle}>
          {' '}
          Decisions
        </Link>
      </Fact>
      <Fact label="Started">{dateTime(call.occurred_at)}</Fact>
      <Fact label="Server">
        {call.server_id === null ? (
          call.server_key
        ) : (
          <Link to={`/mcp/servers/${call.server_id}` as '/mcp'} search={{}} className={linkStyle}>
            {call.server_key}
          </Link>
        )}
      </Fact>
      <Fact label="Tool">
        {call.server_id === null || call.tool_id === null ? (
          <>
            {call.tool_name} <span className="text-muted">not discovered</span>
          </>
        ) : (
          <Link
            to={`/mcp/servers/${call.server_id}` as '/mcp'}
            search={{ tool: call.tool_name }}
            className={linkStyle}
          >
            {call.tool_name}
          </Link>
        )}
      </Fact>
      <Fact label="Latency">{duration(call.latency_ms)}</Fact>
      <Fact label="Owner">
        <Link to="/requests" search={ownerSearch} className={linkStyle}>
          {call.owner_name ?? 'deleted owner'}
        </Link>
        {call.owner_kind === 'service_account' && (
          <span className="text-muted"> service account</span>
        )}
      </Fact>
      <Fact label="API key">
        <Key id={call.api_key_id} />
      </Fact>
      <Fact label="Result">
        {call.response_bytes === null ? NOT_KNOWN : bytes(call.response_bytes)}
      </Fact>
      <Fact label="Request ID">
        <Id id={call.request_id} label="Copy request ID" />
        <Link to="/requests" search={{ request_id: call.request_id }} className={linkStyle}>
          Model requests with this ID
        </Link>
      </Fact>
      <Fact label="JSON-RPC ID">
        {call.jsonrpc_id === null ? (
          NOT_KNOWN
        ) : (
          <>
            <code className="font-mono text-xs break-all">{call.jsonrpc_id}</code>{' '}
            <span className="text-muted">{call.jsonrpc_id_type}</span>
          </>
        )}
      </Fact>
      <Fact label="Session">
        {call.session_hash === null ? (
          'none'
        ) : (
          <Id id={call.session_hash} label="Copy session hash" />
        )}
        {call.protocol_version !== null && (
          <span className="text-muted">protocol {call.protocol_version}</span>
        )}
      </Fact>
    </dl>
  )
}

function Payload({ call }: { call: Detail }) {
  const { payload } = call
  if (payload === null) {
    const names = (call.argument_metadata as { names?: readonly string[] } | null)?.names ?? []
    return (
      <Section title="Arguments and result">
        <p className="text-muted">
          Arguments and result are not recorded.{' '}
          {names.length > 0 && `Argument names: ${names.join(', ')}.`} To record them, set
          request_logging.payloads.capture_mode to redacted_payloads and keep request logging on for
          the owner.
        </p>
      </Section>
    )
  }
  return (
    <>
      <Section title="Arguments">
        {payload.arguments_truncated && <Badge tone="warn">truncated</Badge>}
        <JsonTree value={payload.arguments} open={4} />
      </Section>
      <Section title="Result">
        {payload.result_truncated && <Badge tone="warn">truncated</Badge>}
        {payload.result === null ? (
          <p className="text-muted">No result received.</p>
        ) : (
          <JsonTree value={payload.result} open={4} />
        )}
      </Section>
    </>
  )
}

/** The name of the key; for a deleted key its ID. */
function Key({ id }: { id: string }) {
  const { data } = useGet(
    '/api/v1/admin/api-keys/{api_key_id}',
    { path: { api_key_id: id } },
    { staleTime: 60_000 },
  )
  return data === undefined ? <Id id={id} label="Copy key ID" /> : data.name
}
