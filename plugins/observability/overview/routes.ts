import { type AdminRoute, adminRoute } from 'model-gateway/admin'
import { type Clock, strictObject, Type } from 'model-gateway/plugin'
import { Count, Instant, nullable, Text } from '../../_shared/schema.ts'
import { frameMembers, frameOf, OwnerKind, RangeQuery, tag, wireFrame } from '../_shared/frame.ts'
import type { Reports } from '../_shared/store.ts'
import { composeOverview, topOwners } from './compose.ts'
import {
  readNearBudgets,
  readOwnerNames,
  readOwnerTraffic,
  readRecentAttempts,
  readSpend,
  readTraffic,
} from './store.ts'
import { Key, NearBudget, RecentAttempts, Share } from './wire.ts'

const RECENT_MS = 15 * 60_000

const Latency = nullable(
  Type.Integer({ description: 'Latency of successful requests in milliseconds, accurate to 20 %' }),
)

const sum = {
  request_count: Type.Integer({ description: 'Requests in the log, including refused ones.' }),
  error_count: Type.Integer({
    description: 'Failed requests, without those that the caller aborted.',
  }),
  spend_usd: Type.String({ description: 'Sum of the ledger rows, USD' }),
  total_tokens: Type.Integer({ description: 'Sum of the ledger rows.' }),
  latency_p50_ms: Latency,
  latency_p95_ms: Latency,
}

const recentMembers = {
  window_start: Instant,
  window_end: Instant,
  items: Type.Array(RecentAttempts),
}

export function overviewRoutes(reports: Reports, clock: Clock): AdminRoute[] {
  const recent = () => {
    const now = clock.now()
    return { now, since: new Date(now.getTime() - RECENT_MS) }
  }
  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/overview',
      audience: 'platform_admin',
      tag,
      summary: 'Requests, spend, tokens, errors and latency over time, and what needs attention.',
      query: strictObject({ range: RangeQuery }),
      result: Type.Object({
        ...frameMembers,
        totals: Type.Object({
          ...sum,
          prompt_tokens: Count,
          completion_tokens: Count,
          rejected_spend_usd: Type.String({
            description: 'Charges that hard limits rejected, USD',
          }),
          ledger_count: Type.Integer({ description: 'Requests in the ledger.' }),
          priced_count: Count,
          legacy_estimated_count: Count,
          unpriced_count: Count,
          usage_missing_count: Count,
          unpriced_share: Share,
          unmetered_share: Share,
        }),
        series: Type.Array(Type.Object({ bucket_start: Instant, ...sum })),
        models: Type.Array(
          Type.Object({ model_key: Key('Resolved model; null: no model was found'), ...sum }),
        ),
        providers: Type.Array(
          Type.Object({ provider_key: Key('null: no provider was called'), ...sum }),
        ),
        owners: Type.Array(
          Type.Object({
            owner_kind: nullable(OwnerKind),
            owner_id: Key('One of the ten owners that spent most; null: all others together'),
            owner_name: nullable(Text),
            ...sum,
          }),
        ),
        budgets_near_end: Type.Array(NearBudget, {
          description: 'Up to ten budgets with at most 20 % left, the most used first.',
        }),
        recent_attempts: Type.Object(recentMembers, { description: 'The last 15 minutes.' }),
      }),
      async handle({ query: { range = '7d' } }) {
        const { now, since } = recent()
        const frame = frameOf(range, now)
        return await reports.read(async (reader) => {
          const spend = await readSpend(reader, frame)
          const owners = topOwners(spend)
          const ownerTraffic = await readOwnerTraffic(reader, frame, owners)
          const traffic = [...(await readTraffic(reader, frame)), ...ownerTraffic]
          const ownerNames = await readOwnerNames(reader, owners)
          return {
            ...wireFrame(frame),
            ...composeOverview({ frame, traffic, spend, owners, ownerNames }),
            budgets_near_end: await readNearBudgets(reader, now),
            recent_attempts: {
              window_start: since.toISOString(),
              window_end: now.toISOString(),
              items: await readRecentAttempts(reader, since),
            },
          }
        })
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/observability/providers',
      audience: 'platform_admin',
      tag,
      summary: 'Attempts of the last 15 minutes by provider and model.',
      result: Type.Object(recentMembers),
      async handle() {
        const { now, since } = recent()
        const items = await reports.read((reader) => readRecentAttempts(reader, since))
        return { window_start: since.toISOString(), window_end: now.toISOString(), items }
      },
    }),
  ]
}
