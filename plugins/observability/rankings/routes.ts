import { type AdminRoute, adminRoute } from 'model-gateway/admin'
import { type Clock, strictObject, Type } from 'model-gateway/plugin'
import { Count, Instant, Text } from '../../_shared/schema.ts'
import {
  type Frame,
  frameMembers,
  frameOf,
  RangeQuery,
  tag,
  Usd,
  wireFrame,
} from '../_shared/frame.ts'
import type { Reports } from '../_shared/store.ts'
import { type Point, readHarnessUsage, readLeaderboard } from './store.ts'
import { HarnessLeader, Leader } from './wire.ts'

const query = strictObject({ range: RangeQuery })

export function rankingRoutes(reports: Reports, clock: Clock): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/observability/leaderboard',
      audience: 'platform_admin',
      tag,
      summary: 'Users by spend, then requests, then name: the first 30, and the first 5 over time.',
      query,
      result: Type.Object({
        ...frameMembers,
        chart_users: Type.Array(Type.Object({ user_id: Text, user_name: Text })),
        series: Type.Array(
          Type.Object({
            bucket_start: Instant,
            values: Type.Array(Type.Object({ user_id: Text, spend_usd: Usd })),
          }),
        ),
        leaders: Type.Array(Leader),
      }),
      async handle({ query: { range = '7d' } }) {
        const frame = frameOf(range, clock.now())
        const { leaders, chart, points } = await reports.read((reader) =>
          readLeaderboard(reader, frame),
        )
        const spend = valuesOf(points)
        return {
          ...wireFrame(frame),
          chart_users: chart.map(({ user_id, user_name }) => ({ user_id, user_name })),
          series: seriesOf(frame, (bucket) =>
            chart.map(({ user_id }) => ({ user_id, spend_usd: spend(bucket, user_id) ?? '0' })),
          ),
          leaders,
        }
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/observability/harness-usage',
      audience: 'platform_admin',
      tag,
      summary:
        'Coding agents by requests: the first 30, and the first 5 over time. The agent is identified by the User-Agent, which any caller can set.',
      query,
      result: Type.Object({
        ...frameMembers,
        chart_harnesses: Type.Array(
          Type.Object({ agent_harness_key: Text, agent_harness_label: Text }),
        ),
        series: Type.Array(
          Type.Object({
            bucket_start: Instant,
            values: Type.Array(Type.Object({ agent_harness_key: Text, request_count: Count })),
          }),
        ),
        leaders: Type.Array(HarnessLeader),
      }),
      async handle({ query: { range = '7d' } }) {
        const frame = frameOf(range, clock.now())
        const { leaders, chart, points } = await reports.read((reader) =>
          readHarnessUsage(reader, frame),
        )
        const requests = valuesOf(points)
        return {
          ...wireFrame(frame),
          chart_harnesses: chart.map(({ agent_harness_key, agent_harness_label }) => ({
            agent_harness_key,
            agent_harness_label,
          })),
          series: seriesOf(frame, (bucket) =>
            chart.map(({ agent_harness_key }) => ({
              agent_harness_key,
              request_count: Number(requests(bucket, agent_harness_key) ?? 0),
            })),
          ),
          leaders,
        }
      },
    }),
  ]
}

function valuesOf(points: readonly Point[]) {
  const values = new Map(
    points.map(({ bucket_start, key, value }) => [`${bucket_start} ${key}`, value]),
  )
  return (bucket: string, key: string) => values.get(`${bucket} ${key}`)
}

function seriesOf<T>(frame: Frame, values: (bucket: string) => T[]) {
  return frame.buckets.map((bucket_start) => ({ bucket_start, values: values(bucket_start) }))
}
