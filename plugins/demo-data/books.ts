import type { Lane } from './lanes.ts'
import { exact, statuses } from './tally.ts'

const HALF_DAY_MS = 43_200_000

/** Sums of the rows of one day, as rows of the roll-ups and counters. */
export interface Books {
  readonly rollups: readonly object[]
  readonly counters: readonly {
    readonly scope_key: string
    readonly spent: number
    readonly rejected: number
  }[]
  readonly harnesses: readonly object[]
}

/** The sums of the day that starts at `day`; the lanes can then start another day. */
export function booksOf(lanes: readonly Lane[], day: number): Books {
  const rollups: object[] = []
  const harnesses: object[] = []
  const counters = new Map<string, { spent: number; rejected: number }>()
  for (const { owner, model, label, ledger, harness } of lanes) {
    const own = `budget:v1:${owner.kind}:${owner.id}`
    const models = [
      `${own}:model:${model.resolvedModelKey}`,
      `${own}:upstream_model:${model.upstreamModel}`,
    ]
    const scopes = owner.kind === 'user' ? [own, ...models] : [own]
    const whose = { owner_kind: owner.kind, owner_id: owner.id }
    for (const [place, sums] of ledger.entries()) {
      if (sums.requests + sums.rejectedCount === 0) continue
      rollups.push({
        bucket_start: new Date(day + Math.floor(place / statuses.length) * HALF_DAY_MS),
        ...whose,
        model_key: model.modelKey,
        resolved_model_key: model.resolvedModelKey,
        provider_key: model.provider,
        upstream_model: model.upstreamModel,
        pricing_status: statuses[place % statuses.length],
        requests: sums.requests,
        prompt_tokens: exact(sums.prompt),
        completion_tokens: exact(sums.completion),
        total_tokens: exact(sums.prompt + sums.completion),
        uncached_input_tokens: exact(sums.uncached),
        cache_read_tokens: exact(sums.cacheRead),
        reasoning_tokens: exact(sums.reasoning),
        cost_pico_usd: exact(sums.cost),
        rejected_count: sums.rejectedCount,
        rejected_pico_usd: exact(sums.rejected),
      })
      if (sums.cost + sums.rejected === 0) continue
      for (const key of scopes) {
        const counter = counters.get(key) ?? { spent: 0, rejected: 0 }
        counter.spent = exact(counter.spent + sums.cost)
        counter.rejected = exact(counter.rejected + sums.rejected)
        counters.set(key, counter)
      }
    }
    for (const [half, sums] of harness.entries()) {
      if (sums.requests === 0) continue
      harnesses.push({
        bucket_start: new Date(day + half * HALF_DAY_MS),
        ...whose,
        agent_harness_key: owner.harness,
        agent_harness_label: label,
        request_count: sums.requests,
        exposed_tool_sum: sums.exposed,
        exposed_tool_requests: sums.exposedRequests,
        invoked_tool_sum: sums.invoked,
        invoked_tool_requests: sums.invokedRequests,
      })
    }
  }
  return {
    rollups,
    counters: [...counters].map(([scope_key, sums]) => ({ scope_key, ...sums })),
    harnesses,
  }
}
