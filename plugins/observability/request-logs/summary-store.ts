import type { Static } from 'model-gateway/plugin'
import { instantSql } from '../../_shared/instant.ts'
import { nameSql, type Reader, requestLog, usdSql } from '../_shared/store.ts'
import type { Place } from './store.ts'
import type { RequestLog, RequestLogDetail } from './wire.ts'

/** Columns of a summary; `near` is a further condition on the time of its tags and attempts. */
const columnsSql = (
  near: (column: string) => string,
) => `${instantSql('r.occurred_at')} as occurred_at, r.id as request_log_id, r.request_id,
  r.owner_kind, coalesce(${nameSql('users', 'r.user_id')},
    ${nameSql('service_accounts', 'r.service_account_id')}) as owner_name,
  r.user_id, r.service_account_id, r.team_id, ${nameSql('teams', 'r.team_id')} as team_name,
  r.api_key_id, r.model_key, r.resolved_model_key, r.provider_key, r.upstream_model, r.operation,
  r.stream, r.status_code, r.outcome, r.error_code, r.error_message, r.latency_ms, r.prompt_tokens,
  r.completion_tokens, r.total_tokens, r.cache_read_tokens, r.cache_write_tokens,
  r.reasoning_tokens, r.pricing_status, ${usdSql('r.cost_pico_usd')} as cost_usd, r.service,
  r.component, r.env, r.user_agent, r.agent_harness_key, r.agent_harness_label,
  r.exposed_tool_count, r.invoked_tool_count, r.referenced_mcp_server_count, r.filtered_tool_count,
  r.has_payload, r.request_payload_truncated, r.response_payload_truncated, r.config_version,
  r.metadata_json -> 'payload_policy' as payload_policy, r.metadata_json,
  coalesce((
    select json_object_agg(t.key, t.value order by t.key) from "${requestLog}".request_log_tags t
    where t.occurred_at = r.occurred_at and t.request_log_id = r.id${near('t.occurred_at')}), '{}')
    as tags,
  coalesce((
    select json_agg(json_build_object('attempt_number', a.attempt_number,
      'provider_key', a.provider_key, 'provider_type', a.provider_type, 'route_id', a.route_id,
      'upstream_model', a.upstream_model, 'status', a.status,
      'started_at', ${instantSql('a.started_at')}, 'latency_ms', a.latency_ms,
      'first_byte_ms', a.first_byte_ms, 'upstream_status', a.upstream_status,
      'upstream_request_id', a.upstream_request_id,
      'error_code', a.error_code, 'error_message', a.error_message) order by a.attempt_number)
    from "${requestLog}".request_log_attempts a
    where a.occurred_at = r.occurred_at and a.request_log_id = r.id${near('a.occurred_at')}), '[]')
    as attempts`

/** Summaries with their tags and attempts, newest first. */
export async function readSummaries(
  reader: Reader,
  places: readonly Place[],
): Promise<Static<typeof RequestLog>[]> {
  const [newest] = places
  const oldest = places.at(-1)
  if (newest === undefined || oldest === undefined) return []
  const between = (column: string) =>
    ` and ${column} >= $3::timestamptz and ${column} < $4::timestamptz + interval '1 second'`
  const rows = await reader.unsafe<{ item: Static<typeof RequestLog> }[]>(
    `select row_to_json(item) as item
      from unnest($1::text[]::timestamptz[], $2::text[]::uuid[]) with ordinality as p (at, id, place)
        cross join lateral (
          select ${columnsSql(between)} from "${requestLog}".request_logs r
          where r.occurred_at = p.at and r.id = p.id${between('r.occurred_at')} limit 1
        ) as item
      order by p.place`,
    [places.map(({ at }) => at), places.map(({ id }) => id), oldest.at, newest.at],
  )
  return rows.map(({ item }) => item)
}

export async function readDetail(
  reader: Reader,
  id: string,
): Promise<Static<typeof RequestLogDetail> | undefined> {
  // The id contains the time, which selects one partition.
  const ms = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  const [row] = await reader.unsafe<{ item: Static<typeof RequestLogDetail> }[]>(
    `select row_to_json(item) as item from (
        select ${columnsSql(() => '')}, (
          select json_build_object('request', p.request_json, 'response', p.response_json)
          from "${requestLog}".request_log_payloads p
          where p.occurred_at = r.occurred_at and p.request_log_id = r.id) as payload
        from "${requestLog}".request_logs r
        where r.id = $1::uuid and r.occurred_at >= to_timestamp($2::float8 / 1000)
          and r.occurred_at < to_timestamp($2::float8 / 1000) + interval '1 millisecond'
      ) as item`,
    [id, ms],
  )
  return row?.item
}
