import { cx } from '@/lib/cx.ts'
import { count, duration } from '@/lib/format.ts'
import type { RequestDetail } from '@/pages/requests/query.ts'
import { Badge } from '@/ui/badge.tsx'

type Attempt = RequestDetail['attempts'][number]

/** The calls of providers on a timeline, from the start of the request to its end. */
export function Attempts({ log }: { log: RequestDetail }) {
  if (log.attempts.length === 0) {
    return <p className="text-muted">No provider was called.</p>
  }
  const starts = log.attempts.map(({ started_at }) => Date.parse(started_at))
  const begin = Math.min(Date.parse(log.occurred_at) - log.latency_ms, ...starts)
  const end = Math.max(
    begin + log.latency_ms,
    ...log.attempts.map(({ started_at, latency_ms }) => Date.parse(started_at) + latency_ms),
    begin + 1,
  )
  return (
    <ol className="grid gap-2">
      {log.attempts.map((attempt) => (
        <li key={attempt.attempt_number} className="grid gap-1">
          <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <span className="min-w-0">
              <span className="text-muted">{attempt.attempt_number}. </span>
              <span className="font-medium">{attempt.provider_key}</span>
            </span>
            <span className="min-w-0 truncate text-muted">{attempt.upstream_model}</span>
            <Badge tone={attempt.status === 'success' ? 'good' : 'bad'}>
              {attempt.upstream_status ?? ''} {attempt.status.replaceAll('_', ' ')}
            </Badge>
            <span className="ml-auto whitespace-nowrap">
              {duration(attempt.latency_ms)}
              <span className="text-muted"> · first byte {duration(attempt.first_byte_ms)}</span>
            </span>
          </div>
          <Bar attempt={attempt} begin={begin} length={end - begin} />
          {attempt.upstream_request_id !== null && (
            <p className="text-xs text-muted">
              Provider request ID <code className="font-mono">{attempt.upstream_request_id}</code>
            </p>
          )}
          {attempt.error_code !== null && (
            <p className="text-xs text-bad">
              <code className="font-mono">{attempt.error_code}</code>
              {attempt.error_message !== null && `: ${attempt.error_message}`}
            </p>
          )}
        </li>
      ))}
      <li aria-hidden className="flex justify-between text-xs text-muted">
        <span>0 ms</span>
        <span>{count(Math.round(end - begin))} ms</span>
      </li>
    </ol>
  )
}

const LEAST = 0.5

function Bar({ attempt, begin, length }: { attempt: Attempt; begin: number; length: number }) {
  const share = (ms: number) => (ms / length) * 100
  const left = Math.min(100 - LEAST, share(Date.parse(attempt.started_at) - begin))
  const width = Math.min(100 - left, Math.max(LEAST, share(attempt.latency_ms)))
  const first = attempt.first_byte_ms
  return (
    <div aria-hidden className="relative h-3 rounded bg-raised">
      <div
        className={cx(
          'absolute h-full overflow-hidden rounded',
          attempt.status === 'success' ? 'bg-accent' : 'bg-bad-strong',
        )}
        style={{ left: `${left}%`, width: `${width}%` }}
      >
        {first !== null && attempt.latency_ms > 0 && (
          <div
            className="h-full bg-black/30"
            style={{ width: `${Math.min(100, (first / attempt.latency_ms) * 100)}%` }}
          />
        )}
      </div>
    </div>
  )
}
