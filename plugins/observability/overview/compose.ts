import { usd } from '../../_shared/money.ts'
import type { Frame } from '../_shared/frame.ts'
import { addBin, percentile } from './latency.ts'
import type { SpendRow, TrafficRow } from './store.ts'

/** Sums of the request log and of the ledger for a group of requests. */
interface Sum {
  requests: number
  errors: number
  readonly bins: Map<number, number>
  costPicoUsd: bigint
  rejectedPicoUsd: bigint
  ledgerRows: number
  priced: number
  legacyEstimated: number
  unpriced: number
  usageMissing: number
  promptTokens: number
  completionTokens: number
  totalTokens: number
}

function newSum(): Sum {
  return {
    ...{ requests: 0, errors: 0, bins: new Map(), costPicoUsd: 0n, rejectedPicoUsd: 0n },
    ...{ ledgerRows: 0, priced: 0, legacyEstimated: 0, unpriced: 0, usageMissing: 0 },
    ...{ promptTokens: 0, completionTokens: 0, totalTokens: 0 },
  }
}

function addTraffic(sum: Sum, row: TrafficRow): void {
  sum.requests += row.requests
  sum.errors += row.errors
  addBin(sum.bins, row.latency_bin, row.requests)
}

function addSpend(sum: Sum, row: SpendRow): void {
  sum.costPicoUsd += BigInt(row.cost_pico_usd)
  sum.rejectedPicoUsd += BigInt(row.rejected_pico_usd)
  sum.ledgerRows += row.requests
  sum.priced += row.priced
  sum.legacyEstimated += row.legacy_estimated
  sum.unpriced += row.unpriced
  sum.usageMissing += row.usage_missing
  sum.promptTokens += row.prompt_tokens
  sum.completionTokens += row.completion_tokens
  sum.totalTokens += row.total_tokens
}

/** Sums by key, created at first use. */
function createSums() {
  const sums = new Map<string, Sum>()
  return {
    sums,
    of(key: string): Sum {
      let sum = sums.get(key)
      if (sum === undefined) {
        sum = newSum()
        sums.set(key, sum)
      }
      return sum
    },
  }
}

/** Number of owners with a name in the reply. */
const OWNERS = 10

/** `kind:id` of the owners with the highest spend, then the most requests. */
export function topOwners(spend: readonly SpendRow[]): readonly string[] {
  return spend
    .filter(({ owner_kind }) => owner_kind !== null)
    .map((row) => ({ ...row, cost: BigInt(row.cost_pico_usd), key: ownerKey(row) }))
    .sort((a, b) => compare(b.cost, a.cost) || b.requests - a.requests || compare(a.key, b.key))
    .slice(0, OWNERS)
    .map(({ key }) => key)
}

function ownerKey({ owner_kind, owner_id }: SpendRow): string {
  return `${owner_kind}:${owner_id}`
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export interface Parts {
  readonly frame: Frame
  readonly traffic: readonly TrafficRow[]
  readonly spend: readonly SpendRow[]
  /** The result of `topOwners`. */
  readonly owners: readonly string[]
  readonly ownerNames: ReadonlyMap<string, string>
}

/** Totals, and lists whose sums equal the totals. */
export function composeOverview({ frame, traffic, spend, owners, ownerNames }: Parts) {
  const total = newSum()
  const byBucket = createSums()
  const byModel = createSums()
  const byProvider = createSums()
  const byOwner = createSums()
  for (const row of traffic) {
    if (row.facet === 'all') {
      addTraffic(total, row)
      addTraffic(byBucket.of(row.bucket_start ?? ''), row)
    } else if (row.facet === 'model') addTraffic(byModel.of(row.key), row)
    else if (row.facet === 'provider') addTraffic(byProvider.of(row.key), row)
    else addTraffic(byOwner.of(row.key), row)
  }
  for (const row of spend) {
    if (row.owner_kind !== null) {
      const key = ownerKey(row)
      if (owners.includes(key)) addSpend(byOwner.of(key), row)
      continue
    }
    addSpend(total, row)
    addSpend(byBucket.of(row.bucket_start ?? ''), row)
    addSpend(byModel.of(row.model_key), row)
    addSpend(byProvider.of(row.provider_key), row)
  }
  return {
    totals: {
      ...wireSum(total),
      prompt_tokens: total.promptTokens,
      completion_tokens: total.completionTokens,
      rejected_spend_usd: usd(total.rejectedPicoUsd),
      ledger_count: total.ledgerRows,
      priced_count: total.priced,
      legacy_estimated_count: total.legacyEstimated,
      unpriced_count: total.unpriced,
      usage_missing_count: total.usageMissing,
      unpriced_share: share(total.unpriced, total.ledgerRows),
      unmetered_share: share(total.usageMissing, total.ledgerRows),
    },
    series: frame.buckets.map((bucket_start) => ({
      bucket_start,
      ...wireSum(byBucket.of(bucket_start)),
    })),
    models: list(byModel.sums, total).map(([model_key, sum]) => ({ model_key, ...sum })),
    providers: list(byProvider.sums, total).map(([provider_key, sum]) => ({
      provider_key,
      ...sum,
    })),
    owners: list(byOwner.sums, total).map(([key, sum]) => {
      const [kind, id] = key === null ? [null, null] : splitKey(key)
      return {
        owner_kind: kind,
        owner_id: id,
        owner_name: key === null ? null : (ownerNames.get(key) ?? null),
        ...sum,
      }
    }),
  }
}

function splitKey(key: string): ['user' | 'service_account', string] {
  const at = key.indexOf(':')
  return [key.slice(0, at) as 'user' | 'service_account', key.slice(at + 1)]
}

/**
 * Highest spend first. If requests without a key in `sums` exist, the last entry sums them, with
 * the key null.
 */
function list(sums: ReadonlyMap<string, Sum>, total: Sum) {
  const sorted = [...sums].sort(
    ([a, one], [b, other]) =>
      compare(other.costPicoUsd, one.costPicoUsd) || other.requests - one.requests || compare(a, b),
  )
  const rest = { ...total, bins: new Map(total.bins) }
  for (const [, sum] of sorted) {
    rest.requests -= sum.requests
    rest.errors -= sum.errors
    rest.costPicoUsd -= sum.costPicoUsd
    rest.totalTokens -= sum.totalTokens
    for (const [bin, count] of sum.bins) addBin(rest.bins, bin, -count)
  }
  const items: (readonly [string | null, ReturnType<typeof wireSum>])[] = sorted.map(
    ([key, sum]) => [key, wireSum(sum)],
  )
  const isEmpty = rest.requests === 0 && rest.costPicoUsd === 0n && rest.totalTokens === 0
  return isEmpty ? items : [...items, [null, wireSum(rest)] as const]
}

function wireSum(sum: Sum) {
  return {
    request_count: sum.requests,
    error_count: sum.errors,
    spend_usd: usd(sum.costPicoUsd),
    total_tokens: sum.totalTokens,
    latency_p50_ms: percentile(sum.bins, 0.5),
    latency_p95_ms: percentile(sum.bins, 0.95),
  }
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
