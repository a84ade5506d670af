import { Link } from '@tanstack/react-router'
import { useGet } from '@/api/query.ts'
import { count, duration, NOT_KNOWN } from '@/lib/format.ts'
import { operationNames, type RequestDetail } from '@/pages/requests/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Fact, Id } from '@/ui/fact.tsx'
import { Tooltip } from '@/ui/tooltip.tsx'

const linkStyle = 'hover:text-accent-text hover:underline'
const universal = ['service', 'component', 'env']

/** The owner, key, model, client and tags of a request. */
export function Facts({ log }: { log: RequestDetail }) {
  const { model_key: asked, resolved_model_key: run } = log
  const { api_surface: api, selected_model_key: picked } = log.metadata_json as {
    readonly api_surface?: unknown
    readonly selected_model_key?: string
  }
  return (
    <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-2 lg:grid-cols-3">
      <Fact label="Owner">
        <Owner log={log} />
      </Fact>
      <Fact label="Team">
        {log.team_id === null ? (
          <Nothing />
        ) : (
          <Link to="/requests" search={{ team_id: log.team_id }} className={linkStyle}>
            {log.team_name ?? 'deleted team'}
          </Link>
        )}
      </Fact>
      <Fact label="API key">
        {log.api_key_id === null ? <Nothing /> : <Key id={log.api_key_id} />}
      </Fact>
      <Fact label="Model">
        {asked === null ? (
          <Nothing />
        ) : (
          <Link to="/requests" search={{ model_key: asked }} className={linkStyle}>
            {asked}
          </Link>
        )}
        {picked !== undefined && picked !== run && <span className="text-muted"> → {picked}</span>}
        {run !== null && run !== asked && <span className="text-muted"> → {run}</span>}
      </Fact>
      <Fact label="Provider">
        {log.provider_key === null ? (
          <Nothing />
        ) : (
          <Link to="/requests" search={{ provider_key: log.provider_key }} className={linkStyle}>
            {log.provider_key}
          </Link>
        )}
      </Fact>
      <Fact label="Upstream model">{log.upstream_model ?? <Nothing />}</Fact>
      <Fact label="Kind">
        {api === 'messages' ? 'Messages' : (operationNames[log.operation] ?? log.operation)}
        {log.stream ? ', streaming' : ', not streaming'}
      </Fact>
      <Fact label="Latency">{duration(log.latency_ms)}</Fact>
      <Fact label="Client">
        {log.agent_harness_key === 'unknown' ? 'unknown' : log.agent_harness_label}
      </Fact>
      <Fact label="User agent" wide>
        {log.user_agent === null ? (
          <Nothing />
        ) : (
          <span className="font-mono text-xs [overflow-wrap:anywhere]">{log.user_agent}</span>
        )}
      </Fact>
      <Fact label="Config version">
        <Id id={log.config_version} label="Copy config version" />
      </Fact>
      <Fact label="Tags" wide>
        <Tags tags={log.tags} />
      </Fact>
      <Fact label="Tools">
        <Tools log={log} />
      </Fact>
    </dl>
  )
}

function Nothing() {
  return <span className="text-muted">{NOT_KNOWN}</span>
}

/** The name of the key with its ID; for a deleted key only the ID. */
function Key({ id }: { id: string }) {
  const { data } = useGet(
    '/api/v1/admin/api-keys/{api_key_id}',
    { path: { api_key_id: id } },
    { staleTime: 60_000 },
  )
  return (
    <>
      {data !== undefined && <span className="mr-1">{data.name}</span>}
      <Id id={id} label="Copy key ID" />
    </>
  )
}

function Owner({
  log: { owner_kind, owner_name, user_id, service_account_id },
}: {
  log: RequestDetail
}) {
  if (owner_kind === null) return <span className="text-muted">unknown: no valid key</span>
  const search: Record<string, string> =
    owner_kind === 'user'
      ? { user_id: user_id ?? '' }
      : { service_account_id: service_account_id ?? '' }
  return (
    <>
      <Link to="/requests" search={search} className={linkStyle}>
        {owner_name ?? 'deleted owner'}
      </Link>
      {owner_kind === 'service_account' && <span className="text-muted"> service account</span>}
    </>
  )
}

function Tags({ tags }: { tags: RequestDetail['tags'] }) {
  const entries = Object.entries(tags)
  if (entries.length === 0) return <span className="text-muted">none</span>
  return (
    <span className="flex flex-wrap gap-1">
      {entries.map(([key, value]) => (
        <Link
          key={key}
          to="/requests"
          search={universal.includes(key) ? { [key]: value } : { tag_key: key, tag_value: value }}
          className="max-w-full hover:underline"
        >
          <span className="block max-w-full truncate rounded bg-raised px-1.5 text-xs leading-5">
            {key}={value}
          </span>
        </Link>
      ))}
    </span>
  )
}

const tools = [
  ['offered', 'exposed_tool_count', 'Tools in the request'],
  ['called', 'invoked_tool_count', 'Tool calls in the reply'],
  ['MCP servers', 'referenced_mcp_server_count', 'MCP servers in the request'],
  ['filtered', 'filtered_tool_count', 'Tools that the gateway removed from the request'],
] as const

/** Null is unknown, zero is none. */
function Tools({ log }: { log: RequestDetail }) {
  return (
    <span className="flex flex-wrap gap-1">
      {tools.map(([label, name, what]) => (
        <Badge key={name}>
          <Tooltip text={what}>{label}</Tooltip> {count(log[name])}
        </Badge>
      ))}
    </span>
  )
}
