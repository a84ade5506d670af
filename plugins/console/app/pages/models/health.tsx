import { type Data, useGet } from '@/api/query.ts'
import { cx } from '@/lib/cx.ts'
import { ago, count, dateTime, duration, percent, shareOf } from '@/lib/format.ts'
import { Badge } from '@/ui/badge.tsx'
import { restStyle, Td } from '@/ui/table.tsx'

/** Attempts of the last 15 minutes, by provider and model. */
export type Recent = readonly Item[]
type Item = Data<'/api/v1/admin/observability/providers'>['items'][number]

const REFRESH_MS = 15_000
const FAILING = 0.5
const UNSTEADY = 0.05

/** Attempts summed over providers or models. */
interface Sum {
  readonly attempts: number
  readonly errors: number
  /** The highest p95 of the summed items. */
  readonly p95: number | null
}

/** The attempts of the last 15 minutes, refetched every 15 seconds. */
export function useRecentAttempts() {
  return useGet('/api/v1/admin/observability/providers', {}, { refetchInterval: REFRESH_MS })
}

function sumOf(items: Recent): Sum {
  return items.reduce<Sum>(
    (sum, item) => ({
      attempts: sum.attempts + item.attempt_count,
      errors: sum.errors + item.error_count,
      p95: item.latency_p95_ms === null ? sum.p95 : Math.max(sum.p95 ?? 0, item.latency_p95_ms),
    }),
    { attempts: 0, errors: 0, p95: null },
  )
}

/** The last cell of a row of attempts: the last error and its time. */
export function LastError({ item }: { item: Pick<Item, 'last_error_at' | 'last_error_code'> }) {
  const { last_error_at: at, last_error_code } = item
  const code = last_error_code ?? 'unknown'
  return (
    <Td
      className={cx(restStyle, 'text-muted')}
      title={at === null ? undefined : `${code}, ${dateTime(at)}`}
    >
      {at === null ? 'none' : `${code}, ${ago(at)}`}
    </Td>
  )
}

/** A badge for the share of failed attempts. */
export function State({ share }: { share: number }) {
  if (share >= FAILING) return <Badge tone="bad">failing</Badge>
  return share >= UNSTEADY ? (
    <Badge tone="warn">degraded</Badge>
  ) : (
    <Badge tone="good">healthy</Badge>
  )
}

/** The health of a provider or model, with the numbers behind it. */
export function Health({ items }: { items: Recent | undefined }) {
  if (items === undefined) return <span className="text-muted">…</span>
  const { attempts, errors, p95 } = sumOf(items)
  if (attempts === 0) return <span className="text-muted">no traffic</span>
  const share = shareOf(errors, attempts)
  return (
    <span className="inline-flex items-center gap-2">
      <State share={share} />
      <span className="text-muted">
        {count(errors)} of {count(attempts)} failed ({percent(share)}), p95 {duration(p95)}
      </span>
    </span>
  )
}
