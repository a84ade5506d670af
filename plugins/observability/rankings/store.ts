import type { Static } from 'model-gateway/plugin'
import { instantSql } from '../../_shared/instant.ts'
import type { Frame } from '../_shared/frame.ts'
import {
  accounting,
  boundsOf,
  inFrame,
  nameSql,
  type Reader,
  requestLog,
  usdSql,
} from '../_shared/store.ts'
import type { HarnessLeader, Leader } from './wire.ts'

/** Number of entries in the table and in the chart. */
const TABLE = 30
const CHART = 5

/** The value of a chart entry in one half day. */
export interface Point {
  readonly bucket_start: string
  readonly key: string
  readonly value: string
}

export interface Ranking<T> {
  readonly leaders: T[]
  /** Points of the leaders in the chart. */
  readonly chart: readonly T[]
  /** Half days without requests are omitted. */
  readonly points: readonly Point[]
}

const average = (name: string) =>
  `'${name}_count', sum(${name}_sum)::float8 / nullif(sum(${name}_requests), 0)::float8`
const averages = `json_build_object(${[
  'exposed_tool',
  'invoked_tool',
  'referenced_mcp_server',
  'filtered_tool',
]
  .map(average)
  .join(', ')})`

const leaderboardSql = `
  with rollups as materialized (
    select owner_id, resolved_model_key, bucket_start, cost_pico_usd, requests
    from "${accounting}".usage_rollups where ${inFrame} and owner_kind = 'user' and requests > 0
  ), leaders as materialized (
    select row_number() over (order by spend desc, requests desc, name collate "C", owner_id) as rank,
      *
    from (
      select *, coalesce(${nameSql('users', 'owner_id')}, owner_id) as name
      from (
        select owner_id, sum(cost_pico_usd) as spend, sum(requests) as requests
        from rollups group by owner_id
        -- The top users, with all that tie with the last one.
        order by sum(cost_pico_usd) desc, sum(requests) desc fetch first ${TABLE} rows with ties
      ) as summed
    ) as named
    order by 1 limit ${TABLE}
  ), models as (
    select distinct on (owner_id) owner_id, resolved_model_key
    from (
      select owner_id, resolved_model_key, sum(r.requests) as requests,
        sum(r.cost_pico_usd) as spend
      from rollups r join leaders using (owner_id) group by 1, 2
    ) as used
    order by owner_id, requests desc, spend desc, resolved_model_key collate "C"
  ), tools as (
    select owner_id, ${averages} as averages from "${requestLog}".harness_rollups
    where ${inFrame} and owner_kind = 'user' and owner_id in (select owner_id from leaders)
    group by owner_id
  )
  select (
      select json_agg(json_build_object('rank', rank, 'user_id', owner_id, 'user_name', name,
        'total_spend_usd', ${usdSql('spend')}, 'total_requests', requests,
        'most_used_model', resolved_model_key,
        'tool_cardinality_averages', coalesce(averages, (select ${averages}
          from "${requestLog}".harness_rollups where false))) order by rank)
      from leaders join models using (owner_id) left join tools using (owner_id)
    ) as leaders, (
      select json_agg(point) from (
        select ${instantSql('bucket_start')} as bucket_start, owner_id as key,
          ${usdSql('sum(r.cost_pico_usd)')} as value
        from rollups r join leaders using (owner_id) where rank <= ${CHART}
        group by bucket_start, owner_id
      ) as point
    ) as points`

const harnessSql = `
  with rollups as materialized (
    select agent_harness_key, agent_harness_label, bucket_start, request_count
    from "${requestLog}".harness_rollups where ${inFrame}
  ), leaders as (
    select row_number() over (order by sum(request_count) desc, agent_harness_key collate "C") as rank,
      agent_harness_key, max(agent_harness_label) as label, sum(request_count) as request_count
    from rollups group by agent_harness_key
    order by 1 limit ${TABLE}
  )
  select (
      select json_agg(json_build_object('rank', rank, 'agent_harness_key', agent_harness_key,
        'agent_harness_label', label, 'request_count', request_count) order by rank)
      from leaders
    ) as leaders, (
      select json_agg(point) from (
        select ${instantSql('bucket_start')} as bucket_start, agent_harness_key as key,
          sum(r.request_count)::text as value
        from rollups r join leaders using (agent_harness_key) where rank <= ${CHART}
        group by bucket_start, agent_harness_key
      ) as point
    ) as points`

async function readRanking<T>(reader: Reader, sql: string, frame: Frame): Promise<Ranking<T>> {
  const [row] = await reader.unsafe<{ leaders: T[] | null; points: Point[] | null }[]>(
    sql,
    boundsOf(frame),
  )
  const leaders = row?.leaders ?? []
  return { leaders, chart: leaders.slice(0, CHART), points: row?.points ?? [] }
}

/** Users by spend, then requests, then name. */
export function readLeaderboard(
  reader: Reader,
  frame: Frame,
): Promise<Ranking<Static<typeof Leader>>> {
  return readRanking(reader, leaderboardSql, frame)
}

/** Coding agents by requests, then key. */
export function readHarnessUsage(
  reader: Reader,
  frame: Frame,
): Promise<Ranking<Static<typeof HarnessLeader>>> {
  return readRanking(reader, harnessSql, frame)
}
