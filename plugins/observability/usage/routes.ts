import { type AdminRoute, adminRoute } from 'model-gateway/admin'
import { type Clock, strictObject, Type } from 'model-gateway/plugin'
import { callerOwner } from '../../_shared/caller-owner.ts'
import { Count, Instant, Text } from '../../_shared/schema.ts'
import { frameMembers, frameOf, OwnerKind, RangeQuery, wireFrame } from '../_shared/frame.ts'
import type { Reports } from '../_shared/store.ts'
import { noUsage, readUsage } from './store.ts'

const usage = {
  request_count: Type.Integer({ description: 'Requests in the ledger.' }),
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  uncached_input_tokens: Count,
  cache_read_tokens: Count,
  cache_write_tokens: Count,
  reasoning_tokens: Type.Integer({ description: 'Included in the completion tokens.' }),
}

export function usageRoutes(reports: Reports, clock: Clock): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/me/usage',
      audience: 'me',
      tag: 'me',
      summary: "The caller's own requests and tokens; with an API key, those of its owner.",
      query: strictObject({ range: RangeQuery }),
      result: Type.Object({
        ...frameMembers,
        owner_kind: OwnerKind,
        owner_id: Text,
        totals: Type.Object(usage),
        series: Type.Array(Type.Object({ bucket_start: Instant, ...usage })),
        models: Type.Array(
          Type.Object({ model_key: Type.String({ description: 'Resolved model.' }), ...usage }),
        ),
      }),
      async handle({ caller, query: { range = '7d' } }) {
        const frame = frameOf(range, clock.now())
        const owner = callerOwner(caller)
        const { totals, series, models } = await reports.read((reader) =>
          readUsage(reader, owner, frame),
        )
        const known = new Map(series.map((entry) => [entry.bucket_start, entry]))
        return {
          ...wireFrame(frame),
          owner_kind: owner.kind,
          owner_id: owner.id,
          totals,
          series: frame.buckets.map(
            (bucket_start) => known.get(bucket_start) ?? { bucket_start, ...noUsage },
          ),
          models,
        }
      },
    }),
  ]
}
